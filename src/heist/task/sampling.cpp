#include "sampling.hpp"

#include <heist/detail/labelled_node.hpp>

namespace HEIST_NAMESPACE::detail {

thread_local constinit std::uint32_t Sampling::chance_here = 0;

/// It is a function of its own, as the way of other tasks is shorter without it.
[[gnu::noinline]] void Sampling::begin(SchedulerTask& task) noexcept {
  // relaxed, both: see measure_every().
  if (mask_.load(sync::relaxed) == 0 && !begin_traced(task)) return;
  if (sampled_.load(sync::relaxed) == none) return;
  task.is_sampled = waits_->try_begin(task, clock_.now());
}

/// Returns whether the task is sampled, too.
bool Sampling::begin_traced(const SchedulerTask& task) const noexcept {
  if (Tracing::is_on()) {
    Tracing::record({.what = &task,
                     .other = label_of(task).text(),
                     .kind = TraceKind::post,
                     .level = static_cast<std::uint8_t>(task.static_level())});
  }
  return (chance_here & sampled_.load(sync::relaxed)) == 0;  // relaxed: see measure_every().
}

}  // namespace HEIST_NAMESPACE::detail
