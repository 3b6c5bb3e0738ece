// What jobs take is what the limits count.
#include <heist/agent_cluster.hpp>
#include <heistd/limits.hpp>
#include <thread>

#include "api_fixture.hpp"
#include "no_memory.hpp"
#include "urgent_load.hpp"

namespace heistd {
namespace {

class JobMemory : public ApiFixture {
 protected:
  static Limits small_results() {
    Limits limits;
    limits.max_results = 100'000;
    limits.max_result_bytes = mib;
    return limits;
  }
  JobMemory() : ApiFixture(small_results()) { request_id = longest_name; }
  const std::string longest_name = std::string(64, 'n');  // of a request; see is_request_id()

  /// What many finished jobs of one kind keep, at most.
  std::size_t kept_by(std::string_view target, std::string_view body) {
    post(target, body);
    run_all();
    const auto before = heap_bytes();
    const auto counted_before = anonymous.jobs.result_bytes();
    for (int i = 0; i < 3000; ++i) {
      post(target, body);
      run_all();
    }
    EXPECT_LE(anonymous.jobs.result_bytes(), mib);
    EXPECT_GT(anonymous.jobs.result_bytes(), mib / 2) << "the limit was not reached";
    return heap_bytes() - before + counted_before;
  }
};

TEST_F(JobMemory, frames_when_many_are_kept_then_no_more_memory_than_the_limit) {
  EXPECT_LE(kept_by("/jobs/compress", "small"), mib);
}
TEST_F(JobMemory, digests_when_many_are_kept_then_no_more_memory_than_the_limit) {
  EXPECT_LE(kept_by("/jobs/digest", ""), mib);
}
TEST_F(JobMemory, lines_when_many_are_kept_then_no_more_memory_than_the_limit) {
  EXPECT_LE(kept_by("/jobs/search?pattern=x", "x\ny\nx\n"), mib);
}

TEST_F(JobMemory, jobs_when_many_are_unfinished_then_no_more_memory_than_is_counted) {
  for (const auto* target :
       {"/jobs/digest?signal=g", "/jobs/compress?delay=1000", "/jobs/search?pattern=x"}) {
    post(target, "x");
    run_all();
    const auto before = heap_bytes();
    const auto counted_before = anonymous.budget->bytes();
    for (int i = 0; i < 1000; ++i) post(target, "x");
    EXPECT_LE(heap_bytes() - before, anonymous.budget->bytes() - counted_before) << target;
    while (service.abort_some(clients, "the test") > 0) {
    }
    run_all();
  }
}

class ClusterJobMemory : public testing::Test {
 protected:
  static constexpr unsigned agents = 2;
  /// What the node pool takes ahead is little beside what they need.
  static constexpr std::size_t many = 30'000;
  static Limits limits() {
    Limits limits;
    limits.max_queued = many;
    limits.max_results = 1;
    return limits;
  }

  ClusterJobMemory() { request.signal_name = "g"; }

  std::shared_ptr<Job> submit() {
    return *service.submit(client, request, Blocks{"x"}, *client.budget->take_job());
  }
  /// As a request would have it.
  void put(heist::TaskPriority priority) {
    ASSERT_TRUE(service.put_group(client, "g", priority));
    network.restart();
    network.poll();
  }

  boost::asio::io_context network;
  Client client{"client", heist::TaskPriority::user_blocking, limits()};
  heist::AgentCluster cluster{{.agents = agents}};
  JobService service{cluster.scheduler(), network.get_executor()};
  const KindTable kinds = builtin_kinds();
  JobRequest request{.kind = kinds.find("digest")};
};

TEST_F(ClusterJobMemory, jobs_when_many_wait_then_no_more_memory_than_is_counted) {
  const UrgentLoad load(cluster.scheduler());
  submit();
  const auto before = heap_bytes();
  const auto counted_before = client.budget->bytes();
  for (std::size_t i = 1; i < many; ++i) submit();
  // Each change of the priority may leave something behind.
  put(heist::TaskPriority::background);
  put(heist::TaskPriority::user_visible);
  put(heist::TaskPriority::background);
  const auto taken = heap_bytes() - before;
  const auto counted = client.budget->bytes() - counted_before;
  RecordProperty("bytes of a job", static_cast<int>(taken / many));
  EXPECT_LE(taken, counted);
#if !defined(HEIST_SANITIZER_ADDRESS) && !defined(HEIST_SANITIZER_THREAD)
  // What is counted is not far from what it takes, nodes of the library included.
  EXPECT_GE(2 * taken, counted);
#endif
}

// Rule: LIF-5, ABT-5.
TEST_F(ClusterJobMemory, jobs_when_deleted_while_their_level_starves_then_memory_does_not_grow) {
  const UrgentLoad load(cluster.scheduler());
  const auto post_and_abort = [this](int times) {
    for (int i = 0; i < times; ++i) {
      request.delay = i % 2 == 0 ? std::chrono::hours(24) : std::chrono::hours(0);
      service.abort(client, *submit(), "the test");
      while (client.budget->jobs() > 100) std::this_thread::yield();
    }
    while (client.budget->jobs() > 0) std::this_thread::yield();
  };
  post_and_abort(2'000);
  const auto before = heap_bytes();
  post_and_abort(8'000);
  EXPECT_LE(heap_bytes(), before + 2 * mib);
  EXPECT_EQ(client.budget->bytes(), 0U);
}

}  // namespace
}  // namespace heistd
