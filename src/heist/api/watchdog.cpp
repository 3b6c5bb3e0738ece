#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <heist/detail/access.hpp>
#include <heist/detail/report_error.hpp>
#include <heist/watchdog.hpp>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../loop/loop_core.hpp"
#include "../os/thread.hpp"
#include "describe.hpp"
#include "gather_metrics.hpp"

namespace HEIST_NAMESPACE {

using namespace detail;

namespace {

using Clock = std::chrono::steady_clock;

/// How many tasks and continuations a loop has begun.
std::uint64_t begun_by(const LoopCore& loop) noexcept {
  std::uint64_t begun = loop.counts().run();
  for (int level = 0; level < level_count; ++level) begun += loop.level_counts(level).stealable;
  return begun;
}

std::chrono::nanoseconds checked(std::chrono::nanoseconds limit) {
  if (limit < std::chrono::milliseconds(1) || limit > std::chrono::hours(1)) {
    throw std::invalid_argument(
        "WatchdogOptions::limit must be from a millisecond to an hour, and is " + describe(limit));
  }
  return limit;
}

}  // namespace

struct Watchdog::Impl {
  /// What the watchdog saw an agent do, and since when it has seen the same.
  struct Watched {
    LoopCore* loop = nullptr;
    const void* what = nullptr;
    std::uint64_t begun = 0;
    Clock::time_point since;
    bool is_reported = false;
  };

  Impl(const AgentCluster& of, WatchdogOptions with) : cluster(of), options(std::move(with)) {
    for (unsigned index = 0; index < cluster.size(); ++index)
      watched.push_back({.loop = &Access::core(cluster.agent(index)), .since = {}});
  }

  void run();
  void look(unsigned index);
  void report(unsigned index, const RunningMetrics& running);

  const AgentCluster& cluster;
  const WatchdogOptions options;
  std::vector<Watched> watched;  ///< only the watchdog's thread touches it
  std::mutex mutex;
  std::condition_variable ends;
  bool is_ending = false;  ///< guarded by mutex
  std::thread thread;
  const pid_t process = getpid();
};

void Watchdog::Impl::run() {
  name_this_thread("heist-watchdog");
  std::unique_lock lock(mutex);
  while (!ends.wait_for(lock, options.limit / 4, [this] { return is_ending; })) {
    lock.unlock();
    for (unsigned index = 0; index < watched.size(); ++index) look(index);
    lock.lock();
  }
}

/// An agent that runs the same as before, and has begun nothing since, has run it all the time. The
/// label is read first: if another task had begun since then, the rest would say so.
void Watchdog::Impl::look(unsigned index) {
  Watched& agent = watched[index];
  const double unit = agent.loop->sampling().clock().nanoseconds_of_unit();
  const auto running = look_at_running(*agent.loop, unit);
  const void* const what = agent.loop->counts().activity().running().what;
  const std::uint64_t begun = begun_by(*agent.loop);
  if (what == nullptr || what != agent.what || begun != agent.begun) {
    agent = {.loop = agent.loop, .what = what, .begun = begun, .since = Clock::now()};
    return;
  }
  // The turns of an agent's host are short, and follow each other without anything in between.
  if (what == agent.loop || agent.is_reported || !running) return;
  // A task that has a label, or is timed as it runs, has said when it began.
  const std::chrono::nanoseconds seen = Clock::now() - agent.since;
  const RunningMetrics one{.label = running->label,
                           .running_for = std::max(seen, running->running_for.value_or(seen))};
  if (*one.running_for < options.limit) return;
  agent.is_reported = true;
  auto tell = [&] { report(index, one); };
  invoke_and_report(tell, ErrorOrigin::task);
}

void Watchdog::Impl::report(unsigned index, const RunningMetrics& running) {
  const ClusterMetrics metrics = cluster.metrics();
  const LongTask task{.agent = index,
                      .agent_name = cluster.agent(index).name(),
                      .label = running.label,
                      .running_for = *running.running_for,
                      .waiting = waiting_in(metrics.levels),
                      .waiting_for_it = waiting_in(metrics.agents[index].levels),
                      .others_arrive = metrics.agents[index].has_arriving};
  if (options.report) return options.report(task);
  std::fputs((to_string(task) + "\n").c_str(), stderr);
}

Watchdog::Watchdog(const AgentCluster& cluster, WatchdogOptions options) {
  options.limit = checked(options.limit);
  impl_ = std::make_unique<Impl>(cluster, std::move(options));
  impl_->thread = std::thread([this] { impl_->run(); });
}

Watchdog::~Watchdog() {
  if (getpid() != impl_->process) {  // a child of fork, which does not have the thread
    static_cast<void>(impl_.release());
    return;
  }
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->is_ending = true;
  }
  impl_->ends.notify_one();
  impl_->thread.join();
}

std::string to_string(const LongTask& task) {
  return "heist: agent " + task.agent_name + " has run " + describe(task.label) + " for " +
         describe(task.running_for) + "; " + std::to_string(task.waiting) +
         " tasks wait in the cluster, " + std::to_string(task.waiting_for_it) +
         " of them for this agent" + (task.others_arrive ? ", and others have come since" : "");
}

}  // namespace HEIST_NAMESPACE
