#include "scenarios/replay/cluster_host.hpp"

#include <stdexcept>
#include <utility>

namespace heist::test {

ClusterHost::ClusterHost(const ReplayOptions& options)
    : cluster_({.agents = options.stage == Stage::stealable ? 1 : options.agents, .reserves = 0}),
      scheduler_(options.stage == Stage::stealable ? cluster_.scheduler() : first_.scheduler()) {}

bool ClusterHost::run(std::function<void()> first) {
  if (cluster_.size() > 1) {
    for (unsigned agent = 0; agent < cluster_.size(); ++agent) keep_busy();
  }
  first_.queue_task(TaskSource::user, [this, first = std::move(first)] {
    first();
    look_whether_quiet(first_.stats().tasks_run - others_run_);
  });
  quiet_.wait();
  const CloseReport report = cluster_.close(CloseMode::drain());
  return report.aborted + report.still_running == 0;
}

/// A cluster has no virtual clock.
void ClusterHost::spend(std::chrono::milliseconds /*time*/) {
  throw std::logic_error("a scenario that depends on time, in a cluster");
}

/// One more stealable task, and another one after it.
void ClusterHost::keep_busy() {
  cluster_.scheduler().post(
      [this] {
        if (is_first_agent()) ++others_run_;
        if (!quiet_.try_wait()) keep_busy();
      },
      {.priority = TaskPriority::background});
}

/// When nothing of the scenario is runnable any more: of two such tasks in a row the second one is
/// alone.
void ClusterHost::look_whether_quiet(std::uint64_t run_before) {
  first_.scheduler().post(
      [this, run_before] {
        const std::uint64_t run = first_.stats().tasks_run - others_run_;
        if (run != run_before + 1) return look_whether_quiet(run);
        quiet_.count_down();
      },
      {.priority = TaskPriority::background});
}

}  // namespace heist::test
