// What a request costs the network thread does not grow with its pattern, or with the client's
// jobs. Counted in allocations, of which looking at a job, or compiling a pattern, needs several.
#include "api_fixture.hpp"
#include "no_memory.hpp"

namespace heistd {
namespace {

class NetworkSteps : public ApiFixture {
 protected:
  /// Of a request that ends with this.
  std::size_t cost_of(std::string_view method, const std::string& target, unsigned status) {
    const auto before = allocations();
    const auto step = begin(api, {method, target, authorization, {}, false});
    const auto cost = allocations() - before;
    EXPECT_EQ(std::get<Reply>(step).status, status);
    return cost;
  }
  std::size_t cost_of_search(const std::string& pattern) {
    const auto target = "/jobs/search?pattern=" + pattern;
    const auto before = allocations();
    const auto step = begin(api, {"POST", target, authorization, 1, false});
    const auto cost = allocations() - before;
    EXPECT_TRUE(std::holds_alternative<Checking>(step)) << pattern;
    return cost;
  }
  void post_jobs(int count) {
    for (int i = 0; i < count; ++i) {
      post("/jobs/digest?signal=g");
      post("/jobs/digest?delay=60000");
      post("/jobs/digest?priority=background");
    }
  }
};

TEST_F(NetworkSteps, stats_when_there_are_many_jobs_then_they_cost_no_more) {
  post_jobs(1);
  static_cast<void>(cost_of("GET", "/stats", 200));
  const auto few = cost_of("GET", "/stats", 200);
  post_jobs(1000);
  EXPECT_EQ(cost_of("GET", "/stats", 200), few);
}

TEST_F(NetworkSteps, stats_when_asked_for_then_no_job_is_looked_at) {
  post_jobs(10);
  std::vector<std::shared_ptr<JobProgress>> hidden;
  for (const auto& job : anonymous.jobs.unfinished()) {
    hidden.push_back(std::exchange(job->progress, nullptr));  // nobody could read its state
  }
  const auto level = call("GET", "/stats").json()["levels"][1];
  EXPECT_EQ(level["queued"], 10);
  EXPECT_EQ(level["delayed"], 10);
  auto next = hidden.begin();
  for (const auto& job : anonymous.jobs.unfinished()) job->progress = std::move(*next++);
}

TEST_F(NetworkSteps, put_and_delete_when_a_signal_has_many_jobs_then_one_batch_is_their_cost) {
  const auto fill = [this](const std::string& name, std::size_t jobs) {
    for (std::size_t i = 0; i < jobs; ++i) post("/jobs/digest?signal=" + name);
  };
  fill("a", 1000), fill("b", jobs_at_a_time + 1), fill("c", 1000);
  const auto put = cost_of("PUT", "/signals/b?priority=background", 200);
  const auto erase = cost_of("DELETE", "/signals/b", 200);
  EXPECT_LE(cost_of("PUT", "/signals/a?priority=background", 200), put + 10);
  EXPECT_LE(cost_of("DELETE", "/signals/a", 200), erase + 10);
  const auto before = allocations();
  EXPECT_EQ(service.abort_some(clients, "the test"), jobs_at_a_time);
  EXPECT_LE(allocations() - before, erase + 10);
}

TEST_F(NetworkSteps, pattern_when_it_is_costly_to_compile_then_agents_do_it) {
  static_cast<void>(cost_of_search("first"));
  // As long; on an agent it takes tens of thousands of allocations.
  EXPECT_EQ(cost_of_search("(-{0,30}){127}"), cost_of_search("abcdefghijklmn"));
}

}  // namespace
}  // namespace heistd
