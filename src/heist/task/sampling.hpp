// Sampling: of which tasks of a loop or a cluster it is measured how long they wait and run.
#pragma once

#include <cstdint>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/sync.hpp>
#include <limits>
#include <memory>

#include "metric_clock.hpp"
#include "sampled_waits.hpp"

namespace HEIST_NAMESPACE::detail {

/// Each thread that makes tasks runnable measures one of so many of its own: a count for all would
/// be one that all threads write to.
///
/// Thread: any.
class Sampling {
 public:
  /// `every`: zero for no task, or a power of two.   Errors: std::bad_alloc.
  Sampling(const LoopTime& time, std::uint32_t every)
      : clock_(time), waits_(std::make_unique<SampledWaits>()) {
    measure_every(every);
  }

  void measure_every(std::uint32_t every) noexcept {
    // relaxed: posts that overlap may fall either way.
    mask_.store(every == 0 ? none : every - 1, sync::relaxed);
  }
  /// Called by whoever makes a task runnable, before others can find it.
  void note_runnable(SchedulerTask& task) noexcept {
    // relaxed: as above.
    if ((++runnable_here & mask_.load(sync::relaxed)) == 0) [[unlikely]]
      begin(task);
  }
  /// Called by whoever has a sampled task, when it starts: since when it waits.
  [[nodiscard]] std::uint64_t end(SchedulerTask& task) noexcept {
    task.is_sampled = false;
    return waits_->end(task);
  }
  /// Called by whoever has a task that will never start, once.
  void forget(SchedulerTask& task) noexcept {
    if (task.is_sampled) static_cast<void>(end(task));
  }
  [[nodiscard]] const MetricClock& clock() const noexcept { return clock_; }
  [[nodiscard]] const SampledWaits& waits() const noexcept { return *waits_; }

 private:
  /// Of all numbers only zero has none of these bits, and a thread's count comes to it rarely.
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  /// It may be in a shared library, where other models of thread-local memory take a call.
  [[gnu::tls_model("initial-exec")]] static thread_local constinit std::uint32_t runnable_here;

  void begin(SchedulerTask& task) noexcept;

  MetricClock clock_;
  sync::atomic<std::uint32_t> mask_{none};
  std::unique_ptr<SampledWaits> waits_;
};

}  // namespace HEIST_NAMESPACE::detail
