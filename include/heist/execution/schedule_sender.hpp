// ScheduleSender: the sender that schedule() of a TaskScheduler gives.
#pragma once

#include <concepts>
#include <heist/execution/library.hpp>
#include <heist/execution/quiet_stop_token.hpp>
#include <heist/execution/schedule_operation.hpp>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE::execution {

/// Completes on its scheduler's loop or cluster, in a task. It is stopped if its stop token says so
/// before its turn, if its signal is aborted, or if the loop closes; one that can be told neither
/// never is.
///
/// Spec: contract SND-1, SND-2.   Thread: any.
template <class OfScheduler>
class ScheduleSender {
 public:
  using sender_concept = SenderTag;

  template <class Self, class Env>
  static consteval auto get_completion_signatures() noexcept {
    if constexpr (has_own_signal() || has_signal<Env> || may_be_stopped<Env>) {
      return ex::completion_signatures<ex::set_value_t(), ex::set_stopped_t()>{};
    } else {
      return ex::completion_signatures<ex::set_value_t()>{};
    }
  }

  template <class Receiver>
  [[nodiscard]] auto connect(Receiver receiver) const
      noexcept(std::is_nothrow_move_constructible_v<Receiver>) {
    return ScheduleOperation<Receiver, decltype(scheduler_.own_signal())>(
        scheduler_.core(), scheduler_.own_priority(), scheduler_.own_signal(), std::move(receiver));
  }

  /// Tells where it completes.
  struct Attributes {
    OfScheduler scheduler;  ///< the same for all completions

    [[nodiscard]] OfScheduler query(
        ex::get_completion_scheduler_t<ex::set_value_t> /*query*/) const noexcept {
      return scheduler;
    }
    [[nodiscard]] OfScheduler query(
        ex::get_completion_scheduler_t<ex::set_stopped_t> /*query*/) const noexcept {
      return scheduler;
    }
  };
  [[nodiscard]] Attributes get_env() const noexcept { return {scheduler_}; }

 private:
  friend OfScheduler;

  explicit ScheduleSender(OfScheduler scheduler) noexcept : scheduler_(std::move(scheduler)) {}
  static consteval bool has_own_signal() {
    return !std::same_as<decltype(std::declval<OfScheduler>().own_signal()), NoSignal>;
  }

  OfScheduler scheduler_;
};

}  // namespace HEIST_NAMESPACE::execution
