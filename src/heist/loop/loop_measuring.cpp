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
  if (is_traced_) trace_start(task, label, level);
}

/// The signal is the one whose priority it follows, or else the one that may abort it.
void LoopCore::trace_start(const LoopNode& node, const TaskLabel& label, int level) noexcept {
  const SchedulingState& state = on_agent().current;
  if (!label.empty()) Tracing::record({.other = label.text(), .kind = TraceKind::label});
  Tracing::record(
      {.what = &node,
       .other = state.priority_source != nullptr ? state.priority_source : state.abort_source,
       .kind = TraceKind::start,
       .level = static_cast<std::uint8_t>(level)});
}

void LoopCore::trace_continuation(const LoopNode& node) noexcept {
  const int level = membership_->picked_level();
  times_.begin({}, level, sampling().clock().now(), false);
  trace_start(node, {}, level);
}

void LoopCore::end_measuring() noexcept {
  times_.end(sampling().clock().now());
  if (is_traced_) Tracing::record({.kind = TraceKind::end});
}

int LoopCore::level_of_picked(const SchedulerTask& task) const noexcept {
  return &task.scheduler->home == this ? task.level : membership_->picked_level();
}

}  // namespace HEIST_NAMESPACE::detail
