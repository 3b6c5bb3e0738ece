// ForkFrame: what the library knows of a coroutine that forks, whatever its result; the tree that
// it is in, and its children that run beside it.
#pragma once

#include <coroutine>
#include <cstdint>
#include <heist/detail/export.hpp>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/scheduling_state.hpp>
#include <heist/detail/sync.hpp>
#include <heist/error.hpp>
#include <heist/version.hpp>
#include <utility>

namespace HEIST_NAMESPACE::detail {

// ChildCount: the forked children of a coroutine that run beside it.
//
// Roles   parent: whoever runs the coroutine; one at a time.  child: one that has ended, on the
//         thread that ran it.
// States  ended_: how many have ended (the parent runs), or that number less away_ (the parent
//         waits).
// I1      A child counts itself once, and only when the parent's continuation was stolen from it:
//         away_ is how many do so between two joins, known to the parent before it goes on.
// I2      ended_ gets from -1 to 0 only while the parent waits, with its last child: that one runs
//         the parent from there on.
// Edge    children: end -> end, wait, look. Carries the child's result to the parent; RMWs extend
//         each other's releases.
// Edge    children: wait -> end. Carries the parent's frame to the last child.
// Progress  wait-free.   Proof  stress/model/models/fork_deque.cpp
class ChildCount {
 public:
  /// The parent: its continuation was stolen, so that one child more runs beside it.
  void add() noexcept { ++away_; }

  /// The parent, which goes on: whether none of its children runs any more.   Cost: nothing without
  /// thefts, else a load.
  [[nodiscard]] bool all_ended() noexcept {
    if (away_ == 0) return true;
    if (ended_.load(sync::edge("children:look", sync::acquire)) != away_) return false;
    restart();
    return true;
  }

  /// The parent, which is to stop: whether it may go on at once. Otherwise the child that ends last
  /// runs it, and it may do so by now.
  [[nodiscard]] bool wait() noexcept {
    if (away_ == 0) return true;
    const std::int32_t away = away_;
    if (ended_.fetch_sub(away, sync::edge("children:wait", sync::acq_rel)) != away) return false;
    away_ = 0;
    return true;
  }

  /// A child that has ended beside its parent, which may be gone afterwards. True: the parent
  /// waits, was waiting for this one, and is the caller's to run.
  [[nodiscard]] bool end_child() noexcept {
    if (ended_.fetch_add(1, sync::edge("children:end", sync::acq_rel)) != -1) return false;
    away_ = 0;
    return true;
  }

 private:
  void restart() noexcept {
    away_ = 0;
    ended_.store(0,
                 sync::relaxed);  // relaxed: no child is left; the next ones come behind a theft.
  }

  std::int32_t away_ = 0;
  sync::atomic<std::int32_t> ended_{0};
};

class ControlledTask;
class ForkFrame;

/// A root and its descendants: what is the same for all of them, and who is told of the root's end.
struct ForkTree {
  /// Of whoever awaits the root, which outlives the tree.
  SchedulingState state = {};
  ForkFrame* root = nullptr;
  /// Whose callback has returned the root, and which ends with it; null: a coroutine awaits the
  /// root.
  ControlledTask* task = nullptr;
  /// The root has ended, on the calling agent; the tree may be gone afterwards.
  void (*ended)(ForkTree&) noexcept = nullptr;
};

/// Runs a root, and its descendants depth-first, until it has ended or what is left of it runs on
/// other agents.
///
/// Thread: an agent.   Cost: constant stack.
HEIST_EXPORT void run_tree(ForkTree& tree) noexcept;

/// The part of a coroutine's promise that does not depend on its result. A coroutine suspends by
/// noting why (Step); what follows is done outside of it, in a loop (ForkRun), so that nesting
/// takes no stack and nobody is inside a frame that another agent may go on with, or destroy.
///
/// Roles   runner: the agent that resumed the coroutine; the next one comes behind it by the deque
///         or by ChildCount. child: a frame that has ended, on its way out.
/// States  not started -> (running <-> suspended for a child, in a fork deque, or waiting for
///         children) -> ended.
/// I1      A frame is destroyed by whoever holds its result: Forkable, Forked, or, when that one
///         has gone while children ran, the parent once they have ended.
/// I2      Of errors that meet (a child's, the coroutine's own) the first is kept.
class HEIST_EXPORT ForkFrame : public LoopNode {
 public:
  /// Why it has suspended: to run the child `to_run`, to wait for its children, or for good.
  enum class Step : std::uint8_t { call, fork, join, end };
  /// How its parent runs it: waits for it, forked it but had to wait, or may run on another agent
  /// meanwhile.
  enum class Way : std::uint8_t { called, forked_in_place, forked };

  ForkFrame() noexcept : LoopNode(stolen) {}

  // The coroutine.

  void suspend_for(ForkFrame& child, Step why) noexcept {
    to_run = &child;
    step = why;
  }
  void suspend(Step why) noexcept { step = why; }
  void fail() noexcept { fail_with(Reason::of_current_exception()); }
  /// After its children have ended: throws what one of them threw.
  void rethrow_failure() {
    if (!has_failed()) [[likely]]
      return;
    failed_.store(false, sync::relaxed);  // relaxed: no child is left.
    std::exchange(error_, {}).rethrow();
  }
  /// Nobody will look at the child's result.
  void drop_child(ForkFrame& child) noexcept {
    child.next = std::exchange(dropped_, &child);
    if (children.all_ended()) destroy_dropped();
  }

  // Whoever knows that it has ended, or runs it.

  [[nodiscard]] bool has_failed() const noexcept {
    return failed_.load(sync::relaxed);  // relaxed: ChildCount orders it, or the deque.
  }
  [[nodiscard]] const Reason& error() const noexcept { return error_; }

  // The loop that runs it.

  /// From several children at once.
  void fail_with(Reason error) noexcept;
  void hand_error_to_parent() noexcept { parent->fail_with(std::move(error_)); }
  void destroy_dropped() noexcept {
    while (dropped_ != nullptr) {
      ForkFrame& child = *dropped_;
      dropped_ = static_cast<ForkFrame*>(child.next);
      child.coroutine.destroy();
    }
  }

  std::coroutine_handle<> coroutine;
  ForkFrame* parent = nullptr;  ///< null: the root
  ForkTree* tree = nullptr;
  ForkFrame* to_run = nullptr;
  ChildCount children;
  Step step = Step::end;
  Way way = Way::called;
  bool has_ended = false;

 protected:
  ~ForkFrame() = default;

 private:
  static void run_stolen(LoopNode& node, LoopCore& loop) noexcept;
  static const LoopNodeOps stolen;

  sync::atomic<bool> failed_{false};
  Reason error_;
  ForkFrame* dropped_ = nullptr;  ///< children whose results nobody holds
};

}  // namespace HEIST_NAMESPACE::detail
