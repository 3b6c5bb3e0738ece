// DelayOperation: what schedule_after() and schedule_at() do when a stop token may end the wait.
#pragma once

#include <array>
#include <concepts>
#include <heist/abort_signal.hpp>
#include <heist/execution/library.hpp>
#include <heist/execution/queries.hpp>
#include <heist/execution/schedule_operation.hpp>
#include <heist/priority.hpp>
#include <heist/task_signal.hpp>
#include <optional>
#include <utility>

namespace HEIST_NAMESPACE::execution {

/// A signal that aborts when `one` or `other` does, with the priority of `other`, if it has one.
[[nodiscard]] inline AbortSignal either(const AbortSignal& one, const AbortSignal& other) {
  const std::array both{one, other};
  if (const auto with_priority = other.as_task_signal()) {
    return TaskSignal::any(both, *with_priority);
  }
  return AbortSignal::any(both);
}

/// Waits as a task with a signal, which a stop aborts: so the timer leaves at once.
///
/// Thread: the stop callback and the completion may run on two threads. The completion destroys the
///         callback before it does anything else, which waits for a call that is under way.
template <class Receiver, class Signal, class Wait>
class DelayOperation {
 public:
  using operation_state_concept = OperationStateTag;
  using Env = std::remove_cvref_t<decltype(ex::get_env(std::declval<const Receiver&>()))>;

  DelayOperation(detail::SchedulerCore& core, std::optional<TaskPriority> own, Signal signal,
                 Receiver receiver, Wait wait) noexcept
      : core_(core),
        own_priority_(own),
        signal_(std::move(signal)),
        receiver_(std::move(receiver)),
        wait_(wait) {}
  DelayOperation(const DelayOperation&) = delete;
  DelayOperation& operator=(const DelayOperation&) = delete;

  /// If there is no memory for the signal, the operation is stopped.
  void start() & noexcept {
    try {
      stop_.emplace();
      ended_by_.emplace(with_outer_signal(stop_->signal()));
      // The callback comes first: once the inner operation has started, this one may be gone.
      callback_.emplace(exq::get_stop_token(ex::get_env(receiver_)), Stop{this});
    } catch (...) {
      return end([this] { ex::set_stopped(std::move(receiver_)); });
    }
    inner_.emplace(*this);
    inner_->operation.start();
  }

 private:
  struct Stop {
    DelayOperation* operation;
    void operator()() noexcept { operation->stop_->abort(); }
  };
  struct InnerEnv {
    const DelayOperation* operation;

    [[nodiscard]] AbortSignal query(GetSignal /*query*/) const noexcept {
      return *operation->ended_by_;
    }
    [[nodiscard]] TaskPriority query(GetPriority of) const noexcept
      requires(std::same_as<Signal, NoSignal> && std::invocable<GetPriority, const Env&>)
    {
      return of(ex::get_env(operation->receiver_));
    }
  };
  struct InnerReceiver {
    using receiver_concept = ReceiverTag;
    DelayOperation* operation;

    void set_value() noexcept {
      operation->end([this] { ex::set_value(std::move(operation->receiver_)); });
    }
    void set_stopped() noexcept {
      operation->end([this] { ex::set_stopped(std::move(operation->receiver_)); });
    }
    [[nodiscard]] InnerEnv get_env() const noexcept { return {operation}; }
  };
  /// An operation is made where it stays.
  struct Inner {
    explicit Inner(DelayOperation& of)
        : operation(of.core_, of.own_priority_, NoSignal(), InnerReceiver{&of}, of.wait_) {}
    ScheduleOperation<InnerReceiver, NoSignal, Wait> operation;
  };
  using Token = exq::stop_token_of_t<Env>;

  [[nodiscard]] AbortSignal with_outer_signal(AbortSignal own) const {
    if constexpr (std::same_as<Signal, AbortSignal>) {
      return either(own, signal_);
    } else if constexpr (has_signal<Env>) {
      const AbortSignal outer = get_signal(ex::get_env(receiver_));
      return outer.valid() ? either(own, outer) : own;
    } else {
      return own;
    }
  }
  template <class Complete>
  void end(Complete&& complete) noexcept {
    callback_.reset();
    std::forward<Complete>(complete)();
  }

  detail::SchedulerCore& core_;
  const std::optional<TaskPriority> own_priority_;
  [[no_unique_address]] Signal signal_;
  Receiver receiver_;
  const Wait wait_;
  std::optional<AbortController> stop_;
  std::optional<AbortSignal> ended_by_;
  std::optional<exq::stop_callback_for_t<Token, Stop>> callback_;
  std::optional<Inner> inner_;
};

}  // namespace HEIST_NAMESPACE::execution
