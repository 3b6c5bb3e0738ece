// Timeout: a callback after a delay, on the loop that armed it, and the handle that clears it.
#pragma once

#include <concepts>
#include <functional>
#include <heist/delay.hpp>
#include <heist/error.hpp>
#include <heist/detail/misuse.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/promise.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/task_source.hpp>
#include <memory>
#include <type_traits>
#include <utility>

namespace heist {

/// The task of a timeout. Unlike an abortable task nobody claims it: its loop's driver alone arms,
/// clears, runs and drops it.
///
/// Shares  two: the loop's, until it ran or dropped the task, and the handle's. The callback goes
///         with the loop's, the memory with the last.
/// Edge    ref (RefCount): the loop's last use happens before a handle that went to another thread
///         frees the memory, or the other way round.
class TimeoutTask : public SchedulerTask {
 public:
  /// Drops a share; the memory may be gone afterwards.
  void drop_share() noexcept {
    if (shares_.is_last() || shares_.drop()) free();
  }
  /// For the handle: whether the loop is done with the task.
  [[nodiscard]] bool is_over() const noexcept { return shares_.is_last(); }
  /// For who has both shares of a task that has not run: callback and memory go.
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

/// Handle of a timeout: clears it, or lets it be. One handle a timeout; moves, does not copy.
///
/// Spec:     [html#dom-cleartimeout].   Differs: the handle is an object instead of a number.
/// Thread:   the loop's driver. A handle may be moved to and destroyed on any thread.
/// Lifetime: destroying it leaves the timeout armed. It may outlive its loop; clear() must not be
///           called while another thread destroys that.
class Timeout {
 public:
  /// No timeout.
  Timeout() noexcept = default;
  Timeout(Timeout&& other) noexcept : task_(std::exchange(other.task_, nullptr)) {}
  Timeout& operator=(Timeout&& other) noexcept {
    Timeout moved(std::move(other));
    std::swap(task_, moved.task_);
    return *this;
  }
  ~Timeout() {
    if (task_ != nullptr) task_->drop_share();
  }

  /// The callback will not run any more, and is destroyed now. True: it had not run. Does nothing
  /// when there is no timeout, or when it ran, runs or was dropped.
  ///
  /// Thread: the loop's driver; any thread once the timeout is over.   Blocks: never.
  /// Errors: NotAllowedError from a thread that may not drive the loop now; the timeout stays.
  /// Cost:   O(1) whatever the delay; nothing atomic beyond one load.
  bool clear();

  /// For the library.
  explicit Timeout(TimeoutTask& task) noexcept : task_(&task) {}

 private:
  TimeoutTask* task_ = nullptr;
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
    Callback callback_;  ///< until the loop's share goes
  };
};

/// For the library: hands the task to the current loop, and gives the handle. Drops it when the
/// loop
/// is closed.   Errors: NotAllowedError outside of any loop; the task is dropped.
[[nodiscard]] Timeout arm_timeout(TimeoutTask& task, Delay delay);

/// Runs `callback()` as a user-visible task of the current loop once the delay is over; exceptions
/// go to the error hook. Delays that end together keep their order.
///
/// Prefer it to a delayed post() where a timer is mostly cleared: its handle costs no signal, and
/// clear() is a few nanoseconds. Other threads cancel through a signal: PostTaskOptions.
///
/// Spec:   [html#dom-settimeout].   Differs: no clamping of nested or long delays.
/// Thread: within a task, listener or microtask of a loop.   Blocks: never.
/// Errors: std::bad_alloc; NotAllowedError elsewhere; std::invalid_argument for a callback that is
///         null or empty. On a closed loop the callback is dropped, and the handle has no timeout.
/// Cost:   O(1), one allocation, from a pool.
template <class Callback>
  requires std::invocable<std::decay_t<Callback>&>
Timeout set_timeout(Callback&& callback, Delay delay = {}) {
  static_assert(!is_promise<std::invoke_result_t<std::decay_t<Callback>&>>,
                "a coroutine outlives the callback that set_timeout() destroys: use post_task");
  check_callback(callback, "set_timeout");
  return arm_timeout(
      *make_node<CallbackTimeout<std::decay_t<Callback>>>(std::forward<Callback>(callback)), delay);
}

}  // namespace heist
