// yield: a coroutine lets others run, and goes on as a continuation.
#pragma once

#include <coroutine>
#include <heist/abort_signal.hpp>
#include <heist/detail/access.hpp>
#include <heist/detail/export.hpp>
#include <heist/detail/frame_continuation.hpp>
#include <heist/detail/kept_state.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/scheduling_state.hpp>
#include <heist/detail/suspended_coroutine.hpp>
#include <heist/priority.hpp>
#include <heist/promise.hpp>
#include <heist/version.hpp>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace HEIST_NAMESPACE {

/// Whose abort ends a yield, and whose priority it takes if none is named: nobody's, the running
/// task's (`heist::inherit`), or a signal's.
class YieldSignal {
 public:
  /// Nobody's.
  YieldSignal() noexcept = default;
  /// The running task's.
  // NOLINTNEXTLINE(google-explicit-constructor): `yield({heist::inherit, …})` is the point.
  YieldSignal(Inherit /*inherit*/) noexcept : inherits_(true) {}
  /// This signal's.   Errors: std::invalid_argument when it was moved from.
  // NOLINTNEXTLINE(google-explicit-constructor): as above.
  YieldSignal(const AbortSignal& signal) {
    detail::Access::check_valid(signal, "YieldOptions::signal");
    signal_ = detail::Ref<detail::SignalCore>::share(&detail::Access::core(signal));
  }

 private:
  friend struct detail::Access;
  [[nodiscard]] bool inherits() const noexcept { return inherits_; }
  /// The named signal, or null.
  [[nodiscard]] detail::SignalCore* signal() const noexcept { return signal_.get(); }

  detail::Ref<detail::SignalCore> signal_;
  bool inherits_ = false;
};

/// Options of yield: `{signal, priority}`, both optional. Without options both are inherited. With
/// `heist::inherit` alone as the signal the priority is inherited, too. A TaskSignal alone gives
/// both. If nothing gives a priority, it is user-visible.
///
/// Spec: [sched#dictdef-scheduleryieldoptions].   Differs: no aggregate, which g++ 12 would destroy
///       twice within a `co_await` expression.
class YieldOptions {
 public:
  /// Everything is inherited.
  YieldOptions() noexcept = default;
  /// A signal, and perhaps a priority other than its own.
  // NOLINTNEXTLINE(google-explicit-constructor): `yield({signal})` is the point.
  YieldOptions(YieldSignal signal, std::optional<ContinuationPriority> priority = {}) noexcept
      : signal_(std::move(signal)), priority_(priority) {}
  /// A priority; nobody's abort ends the yield.
  // NOLINTNEXTLINE(google-explicit-constructor): as above.
  YieldOptions(ContinuationPriority priority) noexcept : priority_(priority) {}

  /// What it was made of.
  [[nodiscard]] const YieldSignal& signal() const noexcept { return signal_; }
  [[nodiscard]] const std::optional<ContinuationPriority>& priority() const noexcept {
    return priority_;
  }

 private:
  YieldSignal signal_;
  std::optional<ContinuationPriority> priority_;
};

/// What yield() gives. `co_await` schedules the continuation and goes on in it; as a Promise<void>
/// it is scheduled at once, whoever waits for it:  `Promise<void> turn = scheduler.yield();`
///
/// Thread: that of the call; await it where it was made.
class [[nodiscard]] HEIST_EXPORT Yield {
 public:
  Yield(const Yield&) = delete;
  Yield& operator=(const Yield&) = delete;

  /// Schedules the continuation.   Errors: std::bad_alloc; std::invalid_argument.
  // NOLINTNEXTLINE(google-explicit-constructor): what JavaScript's yield() returns.
  operator Promise<void>() &&;

  /// An awaiter that refers to this object, which lasts as long as the `co_await` expression.
  class Awaiter {
   public:
    /// Of this object.
    explicit Awaiter(Yield& yield) noexcept : yield_(yield) {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Awaiting>
    void await_suspend(std::coroutine_handle<Awaiting> coroutine) const {
      // If it returns false, the coroutine may run elsewhere by now, and this object be gone.
      if (!yield_.suspend(detail::SuspendedCoroutine(coroutine), detail::kept_state_of(coroutine)))
        return;
      detail::leave_kept_state(coroutine);
      yield_.wait();
    }
    void await_resume() const {
      if (const auto* waiting = std::get_if<detail::ContinuationReaction>(&yield_.waiting_)) {
        waiting->throw_if_rejected();
      }
    }

   private:
    Yield& yield_;
  };
  Awaiter operator co_await() && noexcept { return Awaiter(*this); }

 private:
  friend struct detail::Access;

  /// `home` keeps the scheduler alive. Without both the scheduler is that of the running task.
  Yield(detail::Ref<detail::TaskHome> home, detail::SchedulerCore* scheduler,
        YieldOptions options) noexcept
      : home_(std::move(home)), scheduler_(scheduler), options_(std::move(options)) {}
  explicit Yield(YieldOptions options) noexcept : options_(std::move(options)) {}
  Yield(detail::Ref<detail::TaskHome> home, detail::SchedulerCore* scheduler,
        detail::Hop /*hop*/) noexcept
      : home_(std::move(home)), scheduler_(scheduler), hops_(true) {}
  // NOLINTNEXTLINE(modernize-use-equals-default): that would clear the whole object beforehand.
  Yield() noexcept {}

  /// Schedules the continuation. If it returns true, the coroutine has to leave its kept state, and
  /// wait() has to follow.
  bool suspend(detail::SuspendedCoroutine coroutine, detail::KeptState* kept);
  void wait() noexcept {
    if (auto* reaction = std::get_if<detail::ContinuationReaction>(&waiting_)) reaction->attach();
  }
  bool post_frame(detail::SchedulerCore& to, const detail::ContinuationSources& sources,
                  const detail::SchedulingState& state, detail::SuspendedCoroutine coroutine,
                  detail::KeptState* kept);
  void post_signalled(detail::SchedulerCore& to, const detail::ContinuationSources& sources,
                      const detail::SchedulingState& state, detail::SuspendedCoroutine coroutine,
                      detail::KeptState* kept);
  void hop(detail::SuspendedCoroutine coroutine, detail::KeptState* kept);
  void suspend_with_promise(detail::SchedulerCore& to, const detail::ContinuationSources& sources,
                            const detail::SchedulingState& state,
                            detail::SuspendedCoroutine coroutine);

  detail::Ref<detail::TaskHome> home_;
  detail::SchedulerCore* scheduler_ = nullptr;
  bool hops_ = false;
  YieldOptions options_;
  std::variant<std::monostate, detail::FrameContinuation, detail::ContinuationReaction> waiting_;
};

template <>
inline constexpr bool detail::restores_state<Yield> = true;

/// As Scheduler::yield, of the scheduler of the running task; outside of any task, of the loop's
/// first one.
///
/// Spec:   contract YLD-1, YLD-2, YLD-5.   Thread: an agent.
/// Errors: of the `co_await`: NotAllowedError off an agent: name a scheduler.
inline Yield yield() noexcept { return detail::Access::make<Yield>(); }
inline Yield yield(YieldOptions options) noexcept {
  return detail::Access::make<Yield>(std::move(options));
}

}  // namespace HEIST_NAMESPACE
