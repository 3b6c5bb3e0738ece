// What a loop measures and traces of its tasks. Of a task that is not sampled and has no label it
// does so only while a trace runs.
#include <heist/detail/labelled_node.hpp>
#include "loop_core.hpp"

namespace HEIST_NAMESPACE::detail {

void LoopCore::begin_measuring(SchedulerTask& task) noexcept {
  Sampling& sampling = task.scheduler->home.sampling();
  const int level = level_of_picked(task);
  const bool is_sampled = task.is_sampled;
  const std::uint64_t now = sampling.clock().now();
  if (is_sampled) {
    const std::uint64_t since = sampling.end(task);
    times_.count_wait(level, now > since ? now - since : 0);
  }
  const TaskLabel label = label_of(task);
  const bool counts = is_sampled && times_.chooses_run(sampling.measures_all());
  if (counts || task.has_label || is_traced_) times_.begin(label, level, now, counts);
  if (is_traced_) trace_start(task, label, level, sampling.clock().time_of_event(now));
}

/// The signal is the one whose priority it follows, or else the one that may abort it.
void LoopCore::trace_start(const LoopNode& node, const TaskLabel& label, int level,
                           std::uint64_t time) noexcept {
  const SchedulingState& state = on_agent().current;
  if (!label.empty())
    Tracing::record({.time = time, .other = label.text(), .kind = TraceKind::label});
  Tracing::record(
      {.time = time,
       .what = &node,
       .other = state.priority_source != nullptr ? state.priority_source : state.abort_source,
       .kind = TraceKind::start,
       .level = static_cast<std::uint8_t>(level)});
}

void LoopCore::trace_continuation(const LoopNode& node) noexcept {
  const int level = membership_->picked_level();
  const MetricClock& clock = sampling().clock();
  const std::uint64_t now = clock.now();
  times_.begin({}, level, now, false);
  trace_start(node, {}, level, clock.time_of_event(now));
}

void LoopCore::end_measuring() noexcept {
  const MetricClock& clock = sampling().clock();
  const std::uint64_t now = clock.now();
  times_.end(now);
  if (is_traced_) Tracing::record({.time = clock.time_of_event(now), .kind = TraceKind::end});
}

int LoopCore::level_of_picked(const SchedulerTask& task) const noexcept {
  return &task.scheduler->home == this ? task.level : membership_->picked_level();
}

}  // namespace HEIST_NAMESPACE::detail
