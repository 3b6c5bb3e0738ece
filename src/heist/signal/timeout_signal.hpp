// TimeoutSignal: a signal that a timer aborts.
#pragma once

#include <heist/delay.hpp>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/scheduler_task.hpp>

#include "../concurrent/inbox.hpp"
#include "../task/time_limit_ops.hpp"
#include "signal_core.hpp"

namespace HEIST_NAMESPACE::detail {

/// The state of AbortSignal::timeout, with its timer.
///
/// Shares   references (SignalCore): those of handles, tasks, subscriptions and dependent signals.
///          When the last one goes, the timer is cancelled, by the loop's thread or by a message to
///          it. Memory: one share belongs to the references, afterwards to that message. The other
///          is the timer's, until it has run or was dropped.
/// States   where_: the timer is under way to its loop, or has arrived, or was given up under way.
///          When it was given up, both shares belong to whoever takes it up. So a signal that is
///          dropped before its timer arrives sends no message, and costs the loop next to nothing.
///          If no other limit was posted since, it costs nothing at all, because the timer is taken
///          back.
/// Edge limit: give_up -> take_up. Carries what the references did to the memory that is freed
///         then.
/// I1       The timer touches the signal only with a reference, which it gets unless the last one
///          has gone. It keeps the reference to the end of the abort, so the signal does not end
///          before.
/// Proof    tests/signals/timeout_signal_test.cpp, stress/timeout_signal_stress.cpp,
///         stress/model/models/time_limits.cpp
class TimeoutSignal final : public SignalCore {
 public:
  /// Makes a signal that aborts once the delay, counted from now, is over. It does so in a plain
  /// task of the loop that comes before all others. If the loop is closed, it never aborts.
  /// Errors: std::bad_alloc.
  [[nodiscard]] static Ref<SignalCore> make(TaskHome& home, Delay delay);

  explicit TimeoutSignal(TaskHome& home);
  ~TimeoutSignal() = default;

  /// Called when the last reference has gone.
  void end_timeout() noexcept;

 private:
  enum class Where : std::uint8_t { under_way, arrived, given_up };
  struct Timer : SchedulerTask {
    explicit Timer(TimeoutSignal& owner) noexcept;
    TimeoutSignal& signal;
  };
  struct Cancellation : LoopNode {
    explicit Cancellation(TimeoutSignal& owner) noexcept;
    TimeoutSignal& signal;
  };

  void cancel_timer() noexcept;
  [[nodiscard]] bool cancel_under_way() noexcept;
  void abort_by_timeout() noexcept;
  void drop_memory() noexcept;
  static void expire(LoopNode& node, LoopCore& loop) noexcept;
  static void drop_timer(LoopNode& node) noexcept;
  static void take_cancellation(LoopNode& node, TaskHome& home) noexcept;
  static void drop_cancellation(LoopNode& node) noexcept;
  [[nodiscard]] static bool take_up(SchedulerTask& timer) noexcept;
  static const TimeLimitOps timer_table;
  static const MessageOps cancellation_table;

  const Ref<TaskHome> home_;
  Timer timer_;
  Cancellation cancellation_;
  RefCount memory_{2};
  sync::atomic<Where> where_{Where::under_way};
  Inbox::Below below_ = 0;  ///< written by the thread that made the signal
};

}  // namespace HEIST_NAMESPACE::detail
