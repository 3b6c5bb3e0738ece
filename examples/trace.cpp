// Records who ran what and why, and writes a file for ui.perfetto.dev.
#include <cstdio>
#include <heist/agent_cluster.hpp>
#include <heist/task_signal.hpp>
#include <heist/trace.hpp>

int main() {
  heist::AgentCluster cluster({.agents = 2});
  heist::Trace trace;

  heist::TaskController report(heist::TaskPriority::background);
  for (int page = 0; page < 100; ++page) {
    cluster.scheduler().post([] { /* renders a page */ }, {.signal = report.signal()});
  }
  report.set_priority(heist::TaskPriority::user_blocking);  // somebody waits for it after all
  cluster.close(heist::CloseMode::drain());

  trace.stop();
  trace.write_perfetto("report.pftrace");
  const heist::TraceCounts counts = trace.counts();
  std::printf("%llu events, %llu overwritten\n", static_cast<unsigned long long>(counts.events),
              static_cast<unsigned long long>(counts.overwritten));
}
