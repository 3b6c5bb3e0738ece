#include "sampling.hpp"

namespace HEIST_NAMESPACE::detail {

thread_local constinit std::uint32_t Sampling::chance_here = 0;

/// It is a function of its own, as the way of other tasks is shorter without it.
[[gnu::noinline]] void Sampling::begin(SchedulerTask& task) noexcept {
  // relaxed: see measure_every().
  if (mask_.load(sync::relaxed) == none) return;
  task.is_sampled = waits_->try_begin(task, clock_.now());
}

}  // namespace HEIST_NAMESPACE::detail
