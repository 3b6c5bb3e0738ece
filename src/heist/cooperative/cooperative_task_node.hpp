// CooperativeTaskNode: a task of the cooperative scheduler.
#pragma once

#include <cstdint>
#include <heist/cooperative_callback.hpp>
#include <heist/cooperative_scheduler.hpp>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/sync.hpp>
#include <memory>
#include <type_traits>

namespace HEIST_NAMESPACE::detail {

/// A task's links belong to the list in which it stands, or to the message that it is. Its key is
/// its id: 1, 2, 3 ... in the order of scheduling. The members that a task without a delay needs
/// come first.
///
/// Shares  Two: one is the scheduler's, until the task is done, and one is the handles'. Each
///         message that is under way has one more.
/// Thread  All members but the shares and is_cancelled belong to the thread that schedules the
///         task, and afterwards to the host's thread.
class CooperativeTaskNode : public LoopNode {
 public:
  /// A message by which another thread cancels the task.
  struct Cancellation : LoopNode {
    explicit Cancellation(CooperativeTaskNode& of) noexcept;
    CooperativeTaskNode& task;

   private:
    static const MessageOps table;
  };

  CooperativeTaskNode(CooperativeCore& of, CooperativePriority level,
                      CooperativeCallback&& what) noexcept;
  CooperativeTaskNode(const CooperativeTaskNode&) = delete;
  CooperativeTaskNode& operator=(const CooperativeTaskNode&) = delete;

  /// Whether there is something to call.
  [[nodiscard]] bool is_alive() const noexcept { return callback && !is_cancelled_elsewhere(); }
  [[nodiscard]] bool is_cancelled_elsewhere() const noexcept {
    // relaxed: it guards nothing. Whoever hears that cancel_callback() has returned, sees it.
    return is_cancelled.load(sync::relaxed);
  }

  CooperativePriority priority : 8;
  bool is_delayed = false;
  bool is_waiting = false;                 ///< whether the task is in delayed_
  std::uint32_t number = 0;                ///< on an event loop, once it was called
  sync::atomic<bool> is_cancelled{false};  ///< by another thread, for good
  RefCount shares{2};
  Milliseconds start{};
  Milliseconds expiration{};

  // Here the second cache line begins.
  CooperativeCallback callback;
  CooperativeCore& core;
  union {
    CooperativeTaskNode* previous;  ///< of a delayed task (PairingHeap)
    /// Of a ready task: one that runs some tasks later, to be prefetched; or null (ReadyTasks).
    const CooperativeTaskNode* later;
  };

  // Here the third cache line begins. It is for delayed tasks, whose heap sets these members, and
  // for tasks that another thread cancels.
  CooperativeTaskNode* child;
  CooperativeTaskNode* sibling;

  /// To be called once at most.
  [[nodiscard]] Cancellation& make_cancellation() noexcept {
    return *std::construct_at(&cancellation_, *this);
  }

 private:
  static const MessageOps table;

  union {
    // NOLINTNEXTLINE(readability-identifier-naming): private, as the union is
    Cancellation cancellation_;  ///< made when it is needed: most tasks are not cancelled
  };
  static_assert(std::is_trivially_destructible_v<Cancellation>, "nobody destroys it");
};
static_assert(sizeof(CooperativeTaskNode) <= 192, "three cache lines, and a size of the node pool");

/// Orders delayed tasks by start, then by age.
inline bool starts_before(const CooperativeTaskNode& a, const CooperativeTaskNode& b) noexcept {
  return a.start != b.start ? a.start < b.start : a.key < b.key;
}
/// Orders ready tasks by expiration, then by age.
inline bool runs_before(const CooperativeTaskNode& a, const CooperativeTaskNode& b) noexcept {
  return a.expiration != b.expiration ? a.expiration < b.expiration : a.key < b.key;
}

}  // namespace HEIST_NAMESPACE::detail
