// CooperativeCore: what the handles of one cooperative scheduler share.
#pragma once

#include <heist/cooperative_callback.hpp>
#include <heist/cooperative_scheduler.hpp>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/slice_clock.hpp>
#include <memory>
#include <optional>

#include "../task/pairing_heap.hpp"
#include "cooperative_task_node.hpp"
#include "ready_tasks.hpp"

namespace HEIST_NAMESPACE::detail {

class LoopHost;

/// One cooperative scheduler.
///
/// Roles   host: the thread of the loop.  scheduler, canceller: any thread. On other threads than
///         the host's they send a message to the loop's inbox, which puts it behind everything that
///         was scheduled before (ORD-2).
/// I1      Everything but shares_ belongs to the host.
/// I2      While there are tasks, a message is under way, or work is being done, or a timeout is
///         set (FORMAT.md, 7).
/// I3      A task is in one place: a message, delayed_, or ready_ (which also holds the running
///         task). A dead task stays in its place until it comes up. It still counts where the rules
///         ask whether something is empty, or what is first. (When a dead task in delayed_ is not
///         the first, nobody will ask for it: promote() drops it as it becomes the first.)
/// Lifetime  counted: handles, the loop's message and timeout, messages of other threads.
class CooperativeCore {
 public:
  /// Errors: std::bad_alloc.
  static Ref<CooperativeCore> make(LoopCore& loop);
  static Ref<CooperativeCore> make(CooperativeHost& host);
  CooperativeCore(const CooperativeCore&) = delete;
  CooperativeCore& operator=(const CooperativeCore&) = delete;

  // Any thread.

  /// Returns false when the loop is closed. The task then still belongs to the caller.
  [[nodiscard]] bool schedule(CooperativeTaskNode& task, Milliseconds delay) noexcept;
  void cancel(CooperativeTaskNode& task) noexcept;
  [[nodiscard]] Milliseconds now() const noexcept { return host_.now(); }
  /// Whether the caller is on the host's thread, and not in a loop that runs inside of the host's.
  [[nodiscard]] bool is_here() const noexcept;
  /// Whether the code that runs is a part of the called task. A reaction may belong to another
  /// task.
  [[nodiscard]] bool is_running_here() const noexcept;
  /// Whether the scheduler works on an event loop of this library.
  [[nodiscard]] bool has_own_host() const noexcept { return own_ != nullptr; }

  // The host (work_loop.cpp).

  void perform_work();
  void expire_timeout() noexcept;
  [[nodiscard]] SliceClock& clock() noexcept { return clock_; }
  [[nodiscard]] CooperativePriority level() const noexcept { return level_; }
  void set_level(CooperativePriority level) noexcept { level_ = level; }
  /// Called when the loop is closed: drops everything, and refuses what comes later.
  void close() noexcept;
  /// The core whose task runs on this thread; null outside.
  [[nodiscard]] static CooperativeCore* running() noexcept;
  [[nodiscard]] bool has_given_way() const noexcept { return coroutine_.has_value(); }
  void give_way(SuspendedCoroutine coroutine) noexcept { coroutine_ = coroutine; }
  [[nodiscard]] const Slice& slice() const noexcept { return slice_; }

  friend void retain(CooperativeCore& core) noexcept;
  friend void release(CooperativeCore& core) noexcept;

 private:
  friend class CooperativeTaskNode;
  class Performance;
  class Running;
  using DelayedTasks = PairingHeap<CooperativeTaskNode, &starts_before>;

  CooperativeCore(std::unique_ptr<LoopHost> own, CooperativeHost* host);
  ~CooperativeCore();

  using Post = bool (LoopCore::*)(LoopNode&) noexcept;
  [[nodiscard]] bool host_accepts() const noexcept;
  [[nodiscard]] Milliseconds start_after(Milliseconds now, Milliseconds delay) const noexcept;
  void cancel_here(CooperativeTaskNode& task) noexcept;
  [[nodiscard]] bool send(LoopNode& message, Post post) noexcept;
  static void arrive(LoopNode& message, TaskHome& home) noexcept;
  static void drop_message(LoopNode& message) noexcept;
  static void arrive_to_cancel(LoopNode& message, TaskHome& home) noexcept;
  static void drop_cancellation(LoopNode& message) noexcept;

  void insert(CooperativeTaskNode& task, Milliseconds now) noexcept;
  void insert_delayed(CooperativeTaskNode& task, Milliseconds now) noexcept;
  void request_callback() noexcept;
  void request_message() noexcept;
  void post_next_message() noexcept;
  void request_timeout(Milliseconds now) noexcept;
  Ref<CooperativeCore> take_messages() noexcept;
  void end_limits() noexcept;
  void promote(Milliseconds now) noexcept;
  void take_delayed(CooperativeTaskNode& task) noexcept;
  void forget_delayed(CooperativeTaskNode& task) noexcept;
  [[nodiscard]] bool work(Milliseconds now);
  [[nodiscard]] CooperativeCallback call(CooperativeTaskNode& task, Milliseconds now);
  void enter(CooperativeTaskNode& task) noexcept;
  static void drop_callback(CooperativeTaskNode& task) noexcept;
  static void drop(CooperativeTaskNode& task) noexcept;
  void drop_cancelled() noexcept;
  void drop_all() noexcept;

  RefCount shares_{1};
  const std::unique_ptr<LoopHost> own_;  ///< null: the host is another loop
  CooperativeHost& host_;
  SliceClock clock_;
  ReadyTasks ready_;
  DelayedTasks delayed_;
  LoopNode* cancelled_ =
      nullptr;  ///< cancellations that have come, until their callbacks are destroyed
  std::uint64_t last_id_ = 0;
  CooperativePriority level_ = CooperativePriority::normal;
  bool performing_ = false;
  bool callback_wanted_ = false;
  bool timeout_set_ = false;
  bool loop_running_ = false;
  bool closed_ = false;
  // These belong to the task that runs.
  std::uint32_t number_ = 0;
  const LoopCore* driven_ = nullptr;  ///< its thread's loop, not one inside that
  Slice slice_;
  std::optional<SuspendedCoroutine> coroutine_;
};

}  // namespace HEIST_NAMESPACE::detail
