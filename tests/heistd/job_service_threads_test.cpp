// Jobs on several agents, and a network thread that aborts them meanwhile.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <heist/agent_cluster.hpp>
#include <heistd/builtin/builtin_kinds.hpp>
#include <heistd/job_service.hpp>
#include <heistd/limits.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "urgent_load.hpp"

namespace heistd {
namespace {

class JobServiceThreads : public testing::Test {
 protected:
  static constexpr std::chrono::minutes patience{2};

  /// A member of a group, of many short chunks; null: there was no place for it for a long time.
  std::shared_ptr<Job> submit(std::chrono::milliseconds delay = {}, std::string signal = "group") {
    const auto end = Clock::now() + patience;
    auto ticket = client.budget->take_job();
    while (!ticket && Clock::now() < end) {
      std::this_thread::yield();
      ticket = client.budget->take_job();
    }
    if (!ticket) return nullptr;
    JobRequest request{.kind = kinds.find("digest")};
    request.signal_name = std::move(signal);
    request.delay = delay;
    auto job = service.submit(client, request, Blocks(64, "x"), std::move(*ticket));
    return job ? *job : nullptr;
  }

  static Limits few_places() {
    Limits limits;
    limits.max_queued = 256;
    return limits;
  }

  const KindTable kinds = builtin_kinds();
  boost::asio::io_context network;  // which nobody runs
  Client client{"client", heist::TaskPriority::user_blocking, few_places()};
  std::optional<heist::AgentCluster> cluster{std::in_place,
                                             heist::AgentClusterOptions{.agents = 3}};
  JobService service{cluster->scheduler(), network.get_executor()};
};

TEST_F(JobServiceThreads, abort_when_another_agent_goes_on_with_the_job_then_its_work_goes_once) {
  for (int round = 0; round < 2000; ++round) {
    const auto job = submit();
    ASSERT_NE(job, nullptr);
    for (int pauses = round % 16; pauses > 0; --pauses) std::this_thread::yield();
    service.abort(client, *job, "the test");
  }
  cluster->close(heist::CloseMode::drain());
  EXPECT_EQ(client.budget->jobs(), 0U);
  EXPECT_EQ(client.budget->bytes(), 0U);
}

/// A job that moves as it starts is counted once: what waits after all others have gone is not
/// counted as running anywhere.
TEST_F(JobServiceThreads, set_priority_when_an_agent_starts_the_job_then_its_start_counts_once) {
  constexpr std::array priorities = {heist::TaskPriority::background,
                                     heist::TaskPriority::user_visible,
                                     heist::TaskPriority::user_blocking};
  for (std::size_t round = 0; round < 3000; ++round) {
    const auto job = submit({}, "");
    ASSERT_NE(job, nullptr);
    for (auto pauses = round % 16; pauses > 0; --pauses) std::this_thread::yield();
    service.set_priority(client, *job, priorities.at(round % 3));
    service.set_priority(client, *job, priorities.at((round + 1) % 3));
    service.abort(client, *job, "the test");
  }
  for (const auto priority : priorities) {
    for (int job = 0; job < 16; ++job) {
      service.set_priority(client, *submit(std::chrono::hours(24), ""), priority);
    }
  }
  cluster->close(heist::CloseMode::drain());
  for (const auto& depth : client.depths()) {
    EXPECT_EQ(depth.delayed, 16U);
    EXPECT_EQ(depth.running, 0U);
  }
}

// Rule: LIF-5. All agents are kept busy by what is more urgent, which never ends.
TEST_F(JobServiceThreads, abort_when_the_jobs_level_starves_then_there_are_places_for_others) {
  UrgentLoad load(cluster->scheduler());
  for (int round = 0; round < 2000; ++round) {
    const auto job = submit(round % 2 == 0 ? std::chrono::hours(24) : std::chrono::hours(0));
    ASSERT_NE(job, nullptr) << "aborted jobs keep their places, in round " << round;
    service.abort(client, *job, "the test");
  }
  load.end();
  cluster->close(heist::CloseMode::drain());
  EXPECT_EQ(client.budget->jobs(), 0U);
  EXPECT_EQ(client.budget->bytes(), 0U);
}

}  // namespace
}  // namespace heistd
