// What waits in a cluster, and for how long: the numbers that say why something was late.
#include <chrono>
#include <cstdio>
#include <heist/agent_cluster.hpp>
#include <heist/metrics.hpp>

int main() {
  heist::AgentCluster cluster({.agents = 2});
  const heist::Scheduler scheduler = cluster.scheduler();
  for (int i = 0; i < 10'000; ++i)
    scheduler.post([] {}, {.priority = heist::TaskPriority::background});
  cluster.close(heist::CloseMode::drain());

  const heist::ClusterMetrics metrics = cluster.metrics();
  const heist::LevelMetrics& level = metrics.levels.of(heist::TaskPriority::background);
  const auto late = std::chrono::duration<double, std::micro>(level.wait_time.quantile(0.99));
  std::printf("%lu posted, %lu run, %lu waiting\n", level.posted, level.run, level.waiting);
  std::printf("99 of 100 sampled tasks waited %.0f us or less\n", late.count());
  for (const heist::LoopMetrics& agent : metrics.agents)
    std::printf("an agent was busy for %.0f %% of its time\n", 100 * agent.busy_share());
  return level.run == level.posted ? 0 : 1;
}
