// The task of a timeout.
#pragma once

#include <heist/delay.hpp>
#include <heist/detail/export.hpp>
#include <heist/detail/misuse.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/promise_traits.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/report_error.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/source_task.hpp>
#include <heist/version.hpp>
#include <memory>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// The task of a timeout. Unlike an abortable task it needs no claim, because only its loop's
/// driver arms, clears, runs and drops it.
///
/// Shares  there are two: the loop's, until it has run or dropped the task, and the handle's. The
///         callback is destroyed with the loop's share, the memory is freed with the last.
/// Edge    ref (RefCount): the loop's last use happens before a handle that went to another thread
///         frees the memory, or the other way round.
class TimeoutTask : public SchedulerTask {
 public:
  /// Drops a share; the memory may be gone afterwards.
  void drop_share() noexcept {
    if (shares_.drop_or_be_last()) free();
  }
  /// For the handle: whether the loop is done with the task.
  [[nodiscard]] bool is_over() const noexcept { return shares_.is_last(); }
  /// For an owner of both shares of a task that has not run: destroys the callback and frees the
  /// memory.
  void destroy() noexcept {
    own_ops().discard_callback(*this);
    free();
  }

 protected:
  struct Ops : LoopNodeOps {
    void (*discard_callback)(SchedulerTask&) noexcept;
    void (*free)(TimeoutTask&) noexcept;
  };
  explicit TimeoutTask(const Ops& table) noexcept : SchedulerTask(table, false) {}

 private:
  [[nodiscard]] const Ops& own_ops() const noexcept { return *static_cast<const Ops*>(ops); }
  void free() noexcept { own_ops().free(*this); }

  RefCount shares_{2};
};

template <class Callback>
class CallbackTimeout final : public TimeoutTask {
 public:
  template <class F>
  explicit CallbackTimeout(F&& callback)
      : TimeoutTask(table), callback_(std::forward<F>(callback)) {}
  ~CallbackTimeout() {}  // the callback is gone

 private:
  static CallbackTimeout& of(LoopNode& node) noexcept {
    return static_cast<CallbackTimeout&>(static_cast<SchedulerTask&>(node));
  }
  static void run(LoopNode& node, LoopCore& loop) noexcept {
    count_plain_task(loop, TaskSource::timer);
    invoke_and_report(of(node).callback_, ErrorOrigin::task);
    drop(node);
  }
  static void drop(LoopNode& node) noexcept {
    discard_callback(of(node));
    of(node).drop_share();
  }
  static void discard_callback(SchedulerTask& task) noexcept {
    std::destroy_at(std::addressof(of(task).callback_));
  }
  static void free(TimeoutTask& task) noexcept { destroy_node(of(task)); }

  static constexpr Ops table{{LoopNodeKind::task, &run, &drop}, &discard_callback, &free};

  union {
    // NOLINTNEXTLINE(readability-identifier-naming): private, as the union is
    Callback callback_;  ///< lives as long as the loop's share
  };
};

/// Hands the task to the current loop, and returns the handle. If the loop is closed, drops the
/// task.
/// Errors: NotAllowedError outside of any loop; the task is dropped.
[[nodiscard]] HEIST_EXPORT Timeout arm_timeout(TimeoutTask& task, Delay delay);

}  // namespace HEIST_NAMESPACE::detail
