#include "sampling.hpp"

#include <heist/detail/labelled_node.hpp>

namespace HEIST_NAMESPACE::detail {

thread_local constinit std::uint32_t Sampling::chance_here = 0;

/// It is a function of its own, as the way of other tasks is shorter without it. A task without a
/// place is not sampled, so it does not pay for the clock.
[[gnu::noinline]] void Sampling::begin(SchedulerTask& task) noexcept {
  if (Tracing::is_on()) trace_post(task);
  const std::uint32_t sampled = sampled_.load(sync::relaxed);  // relaxed: see measure_every().
  if (sampled == none || (chance_here & sampled) != 0 || !waits_->has_place_for(task)) return;
  task.is_sampled = waits_->try_begin(task, clock_.now());
}

void Sampling::trace_post(const SchedulerTask& task) noexcept {
  Tracing::record({.what = &task,
                   .other = label_of(task).text(),
                   .kind = TraceKind::post,
                   .level = static_cast<std::uint8_t>(task.static_level())});
}

}  // namespace HEIST_NAMESPACE::detail
