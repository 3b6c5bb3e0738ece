#include "sampling.hpp"

#include <heist/detail/labelled_node.hpp>

#include "../os/thread.hpp"

namespace HEIST_NAMESPACE::detail {

/// The count that follows this one is zero, for which every task takes the slow way. So a thread's
/// first task finds that the thread has no count of its own yet.
thread_local constinit std::uint32_t Sampling::count_here =
    std::numeric_limits<std::uint32_t>::max();

namespace {

/// A number each bit of which depends on all bits of the given one (the end of MurmurHash3).
constexpr std::uint32_t mixed(std::uint32_t number) noexcept {
  number = (number ^ number >> 16U) * 0x85EB'CA6B;
  number = (number ^ number >> 13U) * 0xC2B2'AE35;
  return number ^ number >> 16U;
}

/// If all threads began with the same count, those that post few tasks each would all choose the
/// same few, or none.
std::uint32_t first_count() noexcept {
  return mixed(static_cast<std::uint32_t>(number_of_this_thread()));
}

/// How far a thread's count jumps: mostly not at all.
std::uint32_t jump_from(std::uint32_t count) noexcept {
  return count % 256 == 0 ? mixed(count) % 16 : 0;
}

}  // namespace

/// It is a function of its own, as the way of other tasks is shorter without it. A task without a
/// place is not sampled, so it does not pay for the clock.
[[gnu::noinline]] void Sampling::begin(SchedulerTask& task) noexcept {
  if (count_here == 0) count_here = first_count();
  if (Tracing::is_on()) trace_post(task);
  const std::uint32_t sampled = sampled_.load(sync::relaxed);  // relaxed: see measure_every().
  const std::uint32_t count = count_here;
  count_here += jump_from(count);
  if (sampled == none || (count & sampled) != 0 || !waits_->has_place_for(task)) return;
  task.is_sampled = waits_->try_begin(task, clock_.now());
}

void Sampling::trace_post(const SchedulerTask& task) noexcept {
  Tracing::record({.what = &task,
                   .other = label_of(task).text(),
                   .kind = TraceKind::post,
                   .level = static_cast<std::uint8_t>(task.static_level())});
}

}  // namespace HEIST_NAMESPACE::detail
