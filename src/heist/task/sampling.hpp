// Sampling: of which tasks of a loop or a cluster it is measured how long they wait and run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/sync.hpp>
#include <limits>
#include <memory>

#include "../concurrent/trace_watch.hpp"
#include "../concurrent/tracing.hpp"
#include "../os/probe.hpp"
#include "metric_clock.hpp"
#include "sampled_waits.hpp"

namespace HEIST_NAMESPACE::detail {

/// Each thread counts what it makes runnable, and chooses one of so many in turn. At each 256th its
/// count jumps by a number that is left to chance: without that, a thread that posts two kinds of
/// tasks alternately, or to two loops, would never choose one of the two. If each choice were left
/// to chance, the processor would predict each wrongly, which costs as much as the measuring. A
/// count for all threads would be one to which all write.
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
    sampled_.store(mask_of(every), sync::relaxed);
    watch_.call_again();
  }
  /// Called by whoever makes a task runnable, before others can find it.
  void note_runnable(SchedulerTask& task) noexcept {
    if (chooses(task)) [[unlikely]]
      begin(task);
  }
  /// These two are the same in two steps. Where nothing follows the second but a post, the compiler
  /// needs no frame for the first.
  [[nodiscard]] bool chooses([[maybe_unused]] const SchedulerTask& task) const noexcept {
    HEIST_PROBE(post, &task, task.static_level());
    const std::uint32_t count = count_here + 1;
    count_here = count;
    return (count & mask_.load(sync::relaxed)) == 0;  // relaxed: as above.
  }
  void begin(SchedulerTask& task) noexcept;
  /// The same for a task that others may abort already. It writes nothing to the task, so this one
  /// is not sampled.
  void note_runnable_unsampled(const SchedulerTask& task) noexcept {
    HEIST_PROBE(post, &task, task.static_level());
    if (Tracing::is_on()) [[unlikely]]
      trace_post(task);
  }
  /// Called by whoever has a sampled task, when it starts: since when it waits.
  [[nodiscard]] std::uint64_t end(SchedulerTask& task) noexcept {
    task.is_sampled = false;
    return waits_->end(task);
  }
  /// Called by whoever has a task for itself that will never start.
  void forget(SchedulerTask& task) noexcept {
    if (task.is_sampled) static_cast<void>(end(task));
  }
  /// The same for an aborted task whose contents the caller has taken. It writes nothing to the
  /// task, which its poster may still hold, and which looks at bits beside.
  void forget_aborted(const SchedulerTask& task) noexcept {
    if (task.is_sampled) static_cast<void>(waits_->end(task));
  }
  [[nodiscard]] bool measures_all() const noexcept {
    return sampled_.load(sync::relaxed) == 0;  // relaxed: see measure_every().
  }
  [[nodiscard]] const MetricClock& clock() const noexcept { return clock_; }
  [[nodiscard]] const SampledWaits& waits() const noexcept { return *waits_; }

 private:
  /// A task is chosen by a count without any of these bits. That is one of 2^32 here, which
  /// begin() refuses.
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  /// Where no task is measured, some take the slow way, so that the thread's count jumps.
  static constexpr std::uint32_t mask_for_jumps = 4095;
  [[nodiscard]] static std::uint32_t mask_of(std::uint32_t every) noexcept {
    return every == 0 ? none : every - 1;
  }
  /// It may be in a shared library, where other models of thread-local memory take a call.
  [[gnu::tls_model("initial-exec")]] static thread_local constinit std::uint32_t count_here;

  /// While a trace runs, each task takes the slow way.
  void set_mask() noexcept {
    // relaxed, also below: as above.
    const auto mask = std::min(sampled_.load(sync::relaxed), mask_for_jumps);
    mask_.store(Tracing::is_on() ? 0 : mask, sync::relaxed);
  }
  static void trace_post(const SchedulerTask& task) noexcept;

  MetricClock clock_;
  sync::atomic<std::uint32_t> mask_{none};     ///< which tasks take the slow way
  sync::atomic<std::uint32_t> sampled_{none};  ///< which are measured
  std::unique_ptr<SampledWaits> waits_;
  TraceWatch watch_{this,
                    [](void* sampling) noexcept { static_cast<Sampling*>(sampling)->set_mask(); }};
};

}  // namespace HEIST_NAMESPACE::detail
