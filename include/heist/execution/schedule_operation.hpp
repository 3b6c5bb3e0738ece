// ScheduleOperation: what schedule() does, once it is connected: it waits for its turn on a loop or
// in a cluster.
#pragma once

#include <concepts>
#include <heist/abort_signal.hpp>
#include <heist/delay.hpp>
#include <heist/detail/in_place_task.hpp>
#include <heist/execution/library.hpp>
#include <heist/execution/queries.hpp>
#include <heist/execution/quiet_stop_token.hpp>
#include <heist/priority.hpp>
#include <heist/scheduler.hpp>
#include <optional>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE::execution {

/// Stands for the signal of a scheduler that has none.
struct NoSignal {};
/// Stands for the time for which an operation waits that takes its turn at once.
struct NoWait {};

/// The callback of an operation that waits as a task with a signal. If it is destroyed without a
/// call, the operation has been aborted, or its loop closed.
template <class Operation>
class Turn {
 public:
  explicit Turn(Operation& operation) noexcept : operation_(&operation) {}
  Turn(Turn&& other) noexcept : operation_(std::exchange(other.operation_, nullptr)) {}
  Turn& operator=(Turn&&) = delete;
  ~Turn() {
    if (operation_ != nullptr) operation_->stop();
  }
  void operator()() noexcept { std::exchange(operation_, nullptr)->complete(); }

 private:
  Operation* operation_;
};

/// The operation state of a ScheduleSender. Without a signal it is itself the task that waits, so
/// that nothing is allocated and nothing can fail. With one, a task with a node of its own waits in
/// its stead: a signal may know a task's node for longer than an operation lives.
///
/// `Signal` is NoSignal, or the AbortSignal of its scheduler. `Wait` is NoWait, or tells the delay
/// when the operation starts.
template <class Receiver, class Signal, class Wait = NoWait>
class ScheduleOperation final : private detail::SchedulerTask {
 public:
  using operation_state_concept = OperationStateTag;
  using Env = std::remove_cvref_t<decltype(ex::get_env(std::declval<const Receiver&>()))>;
  static constexpr bool has_own_signal = std::same_as<Signal, AbortSignal>;
  static constexpr bool may_have_signal = has_own_signal || has_signal<Env>;
  static constexpr bool waits = !std::same_as<Wait, NoWait>;
  static constexpr bool may_stop = may_have_signal || may_be_stopped<Env>;

  ScheduleOperation(detail::SchedulerCore& core, std::optional<TaskPriority> own, Signal signal,
                    Receiver receiver, Wait wait = {}) noexcept
      : SchedulerTask(table, false),
        receiver_(std::move(receiver)),
        signal_(std::move(signal)),
        wait_(wait) {
    scheduler = &core;
    has_own_priority = own.has_value();
    if (own) priority = *own;
  }

  void start() & noexcept {
    if constexpr (may_have_signal) {
      if (auto signal = signal_now(); signal.valid()) return post_with(std::move(signal));
    }
    if (const auto asked = priority_now()) priority = *asked;
    if (!post()) refuse();
  }

 private:
  friend class Turn<ScheduleOperation>;

  static ScheduleOperation& of(detail::SchedulerTask& task) noexcept {
    return static_cast<ScheduleOperation&>(task);
  }
  static ScheduleOperation& of(detail::LoopNode& node) noexcept {
    return of(static_cast<detail::SchedulerTask&>(node));
  }
  static void run(detail::LoopNode& node, detail::LoopCore& /*loop*/) noexcept {
    of(node).complete();
  }
  static void drop(detail::LoopNode& node) noexcept {
    if constexpr (may_stop) {
      of(node).stop();
    } else {
      detail::finish_dropped(of(node));
    }
  }
  static void finish(detail::SchedulerTask& task) noexcept { of(task).complete(); }
  static constexpr detail::InPlaceOps table{{detail::LoopNodeKind::task, &run, &drop}, &finish};

  [[nodiscard]] AbortSignal signal_now() const noexcept {
    if constexpr (has_own_signal) {
      return signal_;
    } else {
      return get_signal(ex::get_env(receiver_));
    }
  }
  /// The fixed priority that is asked for, if there is one.
  [[nodiscard]] std::optional<TaskPriority> priority_now() const noexcept {
    if (has_own_priority) {
      const TaskPriority own = priority;
      return own;
    }
    if constexpr (!has_own_signal && std::invocable<GetPriority, const Env&>) {
      return get_priority(ex::get_env(receiver_));
    } else {
      return std::nullopt;
    }
  }
  [[nodiscard]] Delay delay_now() const noexcept {
    if constexpr (waits) {
      return wait_.delay_now(*scheduler);
    } else {
      return {};
    }
  }
  [[nodiscard]] bool post() noexcept {
    if constexpr (waits) {
      return detail::post_in_place(*this, delay_now());
    } else {
      return detail::post_in_place(*this);
    }
  }
  /// If there is no memory for the task, the operation is stopped.
  void post_with(AbortSignal signal) noexcept {
    Turn<ScheduleOperation> turn(*this);
    try {
      detail::scheduler_of(*scheduler)
          .post(std::move(turn),
                {.signal = std::move(signal), .priority = priority_now(), .delay = delay_now()});
    } catch (...) {  // NOLINT(bugprone-empty-catch): whoever has the turn then, drops it
    }
  }

  void refuse() noexcept {
    if constexpr (may_stop) {
      stop();
    } else {
      detail::finish_refused(*this);
    }
  }
  void stop() noexcept {
    if constexpr (may_stop) ex::set_stopped(std::move(receiver_));
  }
  void complete() noexcept {
    if constexpr (may_be_told_to_stop<Env>) {
      if (exq::get_stop_token(ex::get_env(receiver_)).stop_requested()) return stop();
    }
    ex::set_value(std::move(receiver_));
  }

  Receiver receiver_;
  [[no_unique_address]] Signal signal_;
  [[no_unique_address]] Wait wait_;
};

}  // namespace HEIST_NAMESPACE::execution
