// DelaySender: the sender that schedule_after() and schedule_at() of a scheduler give.
#pragma once

#include <heist/delay.hpp>
#include <heist/detail/durations.hpp>
#include <heist/detail/in_place_task.hpp>
#include <heist/execution/delay_operation.hpp>
#include <heist/execution/library.hpp>
#include <heist/execution/quiet_stop_token.hpp>
#include <heist/execution/schedule_sender.hpp>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE::execution {

/// Waits for a time, counted from the start of the operation.
struct WaitFor {
  Delay delay;
  [[nodiscard]] Delay delay_now(const detail::SchedulerCore& /*scheduler*/) const noexcept {
    return delay;
  }
};

/// Waits until a time of the scheduler's clock.
struct WaitUntil {
  std::chrono::steady_clock::time_point time;
  [[nodiscard]] Delay delay_now(const detail::SchedulerCore& scheduler) const noexcept {
    const auto now = detail::time_at(scheduler);
    return time > now ? Delay(time - now) : Delay();
  }
};

/// As ScheduleSender, once the time has come. A stop or an abort ends the wait at once.
///
/// Spec: contract SND-8.   Thread: any.   Cost: no allocation without a signal and a stop token.
template <class OfScheduler, class Wait>
class DelaySender {
 public:
  using sender_concept = SenderTag;

  template <class Self, class Env>
  static consteval auto get_completion_signatures() noexcept {
    return ScheduleSender<OfScheduler>::template get_completion_signatures<Self, Env>();
  }

  template <class Receiver>
  [[nodiscard]] auto connect(Receiver receiver) const {
    using Env = std::remove_cvref_t<decltype(ex::get_env(std::declval<const Receiver&>()))>;
    using Signal = decltype(scheduler_.own_signal());
    using Operation =
        std::conditional_t<may_be_told_to_stop<Env>, DelayOperation<Receiver, Signal, Wait>,
                           ScheduleOperation<Receiver, Signal, Wait>>;
    return Operation(scheduler_.core(), scheduler_.own_priority(), scheduler_.own_signal(),
                     std::move(receiver), wait_);
  }

  [[nodiscard]] auto get_env() const noexcept { return scheduler_.schedule().get_env(); }

 private:
  friend OfScheduler;

  DelaySender(OfScheduler scheduler, Wait wait) noexcept
      : scheduler_(std::move(scheduler)), wait_(wait) {}

  OfScheduler scheduler_;
  Wait wait_;
};

}  // namespace HEIST_NAMESPACE::execution
