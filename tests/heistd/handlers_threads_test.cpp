// Handlers on several agents, while the network aborts their jobs and looks at them.
#include <gtest/gtest.h>

#include <heist/agent_cluster.hpp>
#include <heist/yield.hpp>
#include <heistd/job_service.hpp>
#include <heistd/kind_table.hpp>
#include <jobs/handler_kind.hpp>
#include <optional>
#include <thread>

namespace heistd {
namespace {

heist::Promise<heist::jobs::Result> count_pieces(heist::jobs::Job job) {
  std::size_t pieces = 0;
  while (job.read()) {
    job.report_progress(static_cast<double>(++pieces) / 64);
    co_await heist::yield();
  }
  co_return std::to_string(pieces);
}

TEST(HandlersThreads, jobs_when_aborted_anywhere_then_the_others_are_done_and_all_memory_is_back) {
  constexpr int rounds = 500;
  KindTable kinds;
  kinds.add(make_handler_kind("own", count_pieces, {}, std::source_location::current()));
  boost::asio::io_context network;
  Client client("client", heist::TaskPriority::user_blocking, Limits{});
  std::optional<heist::AgentCluster> cluster(std::in_place,
                                             heist::AgentClusterOptions{.agents = 3});
  JobService service(cluster->scheduler(), network.get_executor());
  for (int round = 0; round < rounds; ++round) {
    const JobRequest request{.kind = kinds.find("own")};
    const auto job = *service.submit(client, request, Blocks(64, "x"), *client.budget->take_job());
    for (int pauses = round % 16; pauses > 0; --pauses) std::this_thread::yield();
    static_cast<void>(job->progress->part_done());
    if (round % 2 == 0) service.abort(client, *job, "the test");
  }
  cluster->close(heist::CloseMode::drain());
  network.poll();
  EXPECT_EQ(client.budget->jobs(), 0U);
  EXPECT_EQ(client.budget->bytes(), 0U);
  EXPECT_EQ(service.finished_count(), rounds / 2);
}

}  // namespace
}  // namespace heistd
