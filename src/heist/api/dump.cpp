#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <heist/detail/access.hpp>
#include <heist/dump.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../cluster/cluster_core.hpp"
#include "describe.hpp"
#include "gather_metrics.hpp"

namespace HEIST_NAMESPACE {

using namespace detail;

namespace {

constexpr std::array<std::string_view, level_count> level_names{
    "background",    "background, continuations",   "user-visible", "user-visible, continuations",
    "user-blocking", "user-blocking, continuations"};

/// Levels at which something has happened, the highest first.
void add_levels(std::string& text, const LevelsMetrics& levels, std::string_view indent) {
  for (std::size_t level = LevelsMetrics::size(); level-- > 0;) {
    const LevelMetrics& metrics = levels.at(level);
    if (metrics.posted == 0) continue;
    text += std::string(indent) + std::string(level_names[level]) + ": " +
            std::to_string(metrics.waiting) + " wait";
    if (metrics.oldest_waiting) text += ", the oldest for " + describe(*metrics.oldest_waiting);
    text += "; " + std::to_string(metrics.run) + " have run, " + std::to_string(metrics.aborted) +
            " were aborted, " + std::to_string(metrics.rejected) + " rejected\n";
  }
}

void add_state(std::string& text, const LoopMetrics& metrics) {
  if (metrics.running) {
    text += "runs " + describe(*metrics.running);
  } else {
    text += "runs nothing";
  }
  text += "; busy for " + std::to_string(static_cast<int>(100 * metrics.busy_share())) + " % of " +
          describe(metrics.age) + ", " + std::to_string(metrics.tasks_run) + " tasks run\n";
}

void add_agent(std::string& text, std::string_view name, const LoopMetrics& metrics) {
  text += std::string(name) + " ";
  add_state(text, metrics);
  const std::uint64_t waiting = waiting_in(metrics.levels);
  if (waiting != 0) text += "  " + std::to_string(waiting) + " tasks that are bound to it wait\n";
  if (metrics.has_arriving) text += "  other threads have posted more to it\n";
  if (metrics.delayed != 0)
    text += "  " + std::to_string(metrics.delayed) + " tasks wait there for their time\n";
}

/// The longest queues of signals.
void add_signal_queues(std::string& text, ClusterCore& cluster) {
  constexpr std::size_t most_shown = 10;
  std::vector<CountedQueue> queues = cluster.count_signal_queues();
  std::ranges::sort(queues, std::greater{}, &CountedQueue::tasks);
  for (const CountedQueue& queue : std::span(queues).first(std::min(most_shown, queues.size()))) {
    std::array<char, 32> address{};
    std::snprintf(address.data(), address.size(), "%p", queue.queue);
    text += "  signal's queue " + std::string(address.data()) + ", " +
            std::string(level_names[static_cast<std::size_t>(queue.level)]) + ": " +
            std::to_string(queue.tasks) + " wait\n";
  }
  if (queues.size() > most_shown)
    text += "  and " + std::to_string(queues.size() - most_shown) + " shorter queues of signals\n";
}

/// Schedulers that are suspended, in the order in which they were made.
void add_suspended(std::string& text, TaskHome& home) {
  int number = 0;
  home.first_scheduler().each([&](SchedulerCore& scheduler) {
    if (scheduler.held_stealable.is_suspended())
      text += "  scheduler " + std::to_string(number) + " is suspended\n";
    ++number;
  });
}

}  // namespace

std::string dump(const AgentCluster& cluster) {
  const ClusterMetrics metrics = cluster.metrics();
  std::string text = "cluster of " + std::to_string(cluster.size()) + " agents, " +
                     std::to_string(metrics.tasks_run) + " tasks run\n";
  add_levels(text, metrics.levels, "  ");
  if (metrics.delayed != 0)
    text += "  " + std::to_string(metrics.delayed) + " tasks wait for their time\n";
  TaskHome& home = *Access::home(cluster.scheduler());
  if (home.as_loop() == nullptr) {
    add_suspended(text, home);
    add_signal_queues(text, static_cast<ClusterCore&>(home));
  }
  for (unsigned index = 0; index < cluster.size(); ++index)
    add_agent(text, "agent " + cluster.agent(index).name(), metrics.agents[index]);
  for (std::size_t index = cluster.size(); index < metrics.agents.size(); ++index) {
    if (metrics.agents[index].tasks_run != 0)
      add_agent(text, "reserve " + std::to_string(index - cluster.size()), metrics.agents[index]);
  }
  return text;
}

std::string dump(const EventLoop& loop) {
  const LoopMetrics metrics = loop.metrics();
  std::string text = "event loop ";
  add_state(text, metrics);
  add_levels(text, metrics.levels, "  ");
  if (metrics.has_arriving) text += "  other threads have posted more\n";
  if (metrics.delayed != 0)
    text += "  " + std::to_string(metrics.delayed) + " tasks wait for their time\n";
  return text;
}

}  // namespace HEIST_NAMESPACE
