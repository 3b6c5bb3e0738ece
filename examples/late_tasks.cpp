// Finds the priority that is late, and writes down why: a dump and a trace.
#include <chrono>
#include <cstdio>
#include <heist/agent_cluster.hpp>
#include <heist/dump.hpp>
#include <heist/metrics.hpp>
#include <heist/trace.hpp>
#include <thread>

using namespace std::chrono_literals;

int main() {
  heist::AgentCluster cluster({.agents = 2});
  const heist::Trace trace;  // the last events of each thread are kept, however long it runs
  for (int image = 0; image < 1000; ++image)
    cluster.scheduler().post(
        [] { std::this_thread::sleep_for(100us); },
        {.priority = heist::TaskPriority::background, .label = "shrink image"});

  bool is_late = false;
  while (!is_late) {  // a program would look once a second
    const heist::ClusterMetrics metrics = cluster.metrics();
    for (const auto priority :
         {heist::TaskPriority::user_blocking, heist::TaskPriority::user_visible,
          heist::TaskPriority::background}) {
      const heist::LevelMetrics& level = metrics.levels.of(priority);
      is_late = is_late || level.wait_time.quantile(0.99) > 10ms;
    }
  }
  std::puts(heist::dump(cluster).c_str());
  trace.write_perfetto("late.pftrace");
  cluster.close(heist::CloseMode::drain());
}
