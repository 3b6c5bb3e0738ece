// yield_if_urgent: a long task lets more urgent ones go first, and otherwise goes on at once.
#pragma once

#include <coroutine>
#include <heist/detail/access.hpp>
#include <heist/detail/export.hpp>
#include <heist/detail/urgent_look.hpp>
#include <heist/version.hpp>
#include <heist/yield.hpp>
#include <optional>

namespace HEIST_NAMESPACE {

/// Whether something of a higher level than a continuation of the running task waits for this
/// agent, so that a yield would let something more urgent go first. Tasks of the same level are not
/// more urgent, and neither are those that a maximum wait or a cap would let pass. In a cluster it
/// may be true although another agent has taken the task, until some agent picks, or while the
/// cluster's delays have to be looked after.
///
/// Thread: any; it is false where no event loop runs.   Blocking: no. It takes what other threads
///         have posted, ends delays that are over, and runs nothing.
/// Spec:   contract YLD-7.   Cost: some 15 loads while nothing has changed since the last call, so
///         little more than a nanosecond. While a delay is armed, the processor's counter as well.
[[nodiscard]] inline bool urgent_waiting() noexcept {
  return detail::urgent_look->has_news() && detail::look_for_urgent();
}

/// What yield_if_urgent() gives, for `co_await`.
///
/// Thread: that of the call; await it where it was made.
class [[nodiscard]] HEIST_EXPORT YieldIfUrgent {
 public:
  YieldIfUrgent(const YieldIfUrgent&) = delete;
  YieldIfUrgent& operator=(const YieldIfUrgent&) = delete;

  /// An awaiter that refers to this object, which lasts as long as the `co_await` expression.
  class Awaiter {
   public:
    /// Of this object.
    explicit Awaiter(YieldIfUrgent& yield) noexcept : yield_(yield) {}
    [[nodiscard]] bool await_ready() const noexcept {
      const auto& look = *detail::urgent_look;
      return (!look.has_news() && !look.is_aborted()) || goes_on();
    }
    template <class Awaiting>
    void await_suspend(std::coroutine_handle<Awaiting> coroutine) const {
      Yield::Awaiter(yield_.turn_.emplace().yield).await_suspend(coroutine);
    }
    void await_resume() const {
      if (yield_.turn_) Yield::Awaiter(yield_.turn_->yield).await_resume();
    }

   private:
    YieldIfUrgent& yield_;
  };
  Awaiter operator co_await() && noexcept { return Awaiter(*this); }

 private:
  friend struct detail::Access;
  // NOLINTNEXTLINE(modernize-use-equals-default): that would clear the whole object beforehand.
  YieldIfUrgent() noexcept {}

  /// Whether the coroutine goes on at once, if the last look may not hold any more.
  [[nodiscard]] static bool goes_on() noexcept;

  struct Turn {
    Turn() noexcept : yield(heist::yield()) {}
    Yield yield;
  };
  std::optional<Turn> turn_;
};

template <>
inline constexpr bool detail::restores_state<YieldIfUrgent> = true;

/// A coroutine that takes long awaits this between its parts. If something more urgent waits
/// (urgent_waiting()), that does what `yield()` does. Otherwise it does nothing, and the coroutine
/// goes on without a trip through a queue. When the running task's signal is aborted, it throws the
/// reason, as `yield()` does.
///
/// Thread: any; where no event loop runs it does nothing.
/// Spec:   contract YLD-7.   Cost: that of urgent_waiting() if nothing waits.
[[nodiscard]] inline YieldIfUrgent yield_if_urgent() noexcept {
  return detail::Access::make<YieldIfUrgent>();
}

}  // namespace HEIST_NAMESPACE
