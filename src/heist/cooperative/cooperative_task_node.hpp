// CooperativeTaskNode: a task of the cooperative scheduler.
#pragma once

#include <cstdint>
#include <heist/cooperative_callback.hpp>
#include <heist/cooperative_scheduler.hpp>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/sync.hpp>

namespace HEIST_NAMESPACE::detail {

/// Its links are those of the list it is in, or of its way there; its key is its id: 1, 2, 3 ... in
/// the order of scheduling. What a task without a delay needs comes first.
///
/// Shares  two: the scheduler's, until the task is done, and the handles'. Each message on its way
/// has one more.
/// Thread  all but the shares and is_cancelled: whoever schedules it, then the host's.
class CooperativeTaskNode : public LoopNode {
 public:
  /// The cancelling of another thread, on its way.
  struct Cancellation : LoopNode {
    explicit Cancellation(CooperativeTaskNode& of) noexcept;
    CooperativeTaskNode& task;

   private:
    static const MessageOps table;
  };

  CooperativeTaskNode(CooperativeCore& of, CooperativePriority level,
                      CooperativeCallback&& what) noexcept;

  /// Whether there is something to call.
  [[nodiscard]] bool is_alive() const noexcept { return callback && !is_cancelled_elsewhere(); }
  [[nodiscard]] bool is_cancelled_elsewhere() const noexcept {
    // relaxed: it guards nothing. Whoever hears that cancel_callback() has returned, sees it.
    return is_cancelled.load(sync::relaxed);
  }

  CooperativePriority priority;
  bool is_delayed = false;
  bool is_waiting = false;                 ///< among the delayed ones
  std::uint32_t number = 0;                ///< on an event loop, once it has been called
  sync::atomic<bool> is_cancelled{false};  ///< by another thread, for good
  RefCount shares{2};
  Milliseconds expiration{};
  CooperativeCallback callback;

  // Of the delayed ones (PairingHeap): one cache line.
  Milliseconds start{};
  CooperativeTaskNode* child = nullptr;
  CooperativeTaskNode* sibling = nullptr;
  CooperativeTaskNode* previous = nullptr;

  CooperativeCore& core;
  Cancellation cancellation;

 private:
  static const MessageOps table;
};
static_assert(sizeof(CooperativeTaskNode) <= 192, "three cache lines, and a size of the node pool");

/// Orders delayed tasks by start, then by age.
inline bool starts_before(const CooperativeTaskNode& a, const CooperativeTaskNode& b) noexcept {
  return a.start != b.start ? a.start < b.start : a.key < b.key;
}
/// By what expires.
inline bool runs_before(const CooperativeTaskNode& a, const CooperativeTaskNode& b) noexcept {
  return a.expiration != b.expiration ? a.expiration < b.expiration : a.key < b.key;
}

}  // namespace HEIST_NAMESPACE::detail
