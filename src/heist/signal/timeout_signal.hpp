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
/// Shares   references (SignalCore): handles, tasks, subscriptions, signals that depend on it. They
///          go: the timer is cancelled, by the loop's thread or by a message to it. Memory: one
///          share of the references (then of that message), one of the timer until it has run or
///          was dropped.
/// States   where_: the timer is under way to its loop, has arrived, or was given up under way:
///          then both shares are of whoever takes it up. So what is dropped before it arrives
///          leaves no message behind, and costs the loop next to nothing; and none at all if
///          nothing was handed over since, as it is taken back then.
/// Edge limit: give_up -> take_up. Carries what the references did to the memory that is freed
///         then.
/// I1       The timer touches the signal with a reference only, which it gets unless the last one
///          has gone. Between that and the end of the abort nothing ends.
/// Proof    tests/signals/timeout_signal_test.cpp, stress/timeout_signal_stress.cpp,
///         stress/model/models/time_limits.cpp
class TimeoutSignal final : public SignalCore {
 public:
  /// Aborts once the delay, counted from now, is over, in a plain task of the loop that comes
  /// before all others.
  /// Errors: std::bad_alloc. Of a closed loop it never aborts.
  [[nodiscard]] static Ref<SignalCore> make(TaskHome& home, Delay delay);

  explicit TimeoutSignal(TaskHome& home);
  ~TimeoutSignal() = default;

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

  static void end(SignalCore& core) noexcept;
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
  Inbox::Below below_ = 0;  ///< whoever made the signal wrote it
};

}  // namespace HEIST_NAMESPACE::detail
