// Jobs on several agents, and a network thread that aborts them meanwhile.
#include <gtest/gtest.h>

#include <heist/agent_cluster.hpp>
#include <heistd/job_service.hpp>
#include <heistd/limits.hpp>
#include <optional>
#include <thread>

namespace heistd {
namespace {

class JobServiceThreads : public testing::Test {
 protected:
  /// A member of a group, of many short chunks.
  std::shared_ptr<Job> submit() {
    auto ticket = client.budget->take_job();
    if (!ticket) return nullptr;
    JobRequest request;
    request.signal_name = "group";
    auto job = service.submit(client, request, Blocks(64, "x"), std::move(*ticket));
    return job ? *job : nullptr;
  }

  struct NoMail final : Mail {
    void send(std::unique_ptr<Letter> /*of the end*/) noexcept override {}
  };

  NoMail mail;
  Client client{"client", heist::TaskPriority::user_blocking, Limits()};
  std::optional<heist::AgentCluster> cluster{std::in_place,
                                             heist::AgentClusterOptions{.agents = 3}};
  JobService service{cluster->scheduler(), mail};
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

}  // namespace
}  // namespace heistd
