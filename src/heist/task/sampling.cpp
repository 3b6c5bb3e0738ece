#include "sampling.hpp"

#include <heist/detail/labelled_node.hpp>

#include "../os/thread.hpp"

namespace HEIST_NAMESPACE::detail {

/// The number that follows this one is zero, for which every task takes the slow way. So a thread's
/// first task finds that the thread has no number yet.
thread_local constinit std::uint32_t Sampling::chance_here = 634'785'765;

namespace {

/// Without numbers of their own, threads that post few tasks each would all choose the same few, or
/// none.
std::uint32_t first_chance() noexcept {
  constexpr std::uint32_t odd = 0x9E37'79B9;  // spreads neighbours over all numbers
  return static_cast<std::uint32_t>(number_of_this_thread()) * odd;
}

}  // namespace

/// It is a function of its own, as the way of other tasks is shorter without it. A task without a
/// place is not sampled, so it does not pay for the clock.
[[gnu::noinline]] void Sampling::begin(SchedulerTask& task) noexcept {
  if (chance_here == 0) chance_here = first_chance();
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
