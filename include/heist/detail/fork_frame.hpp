// ForkFrame: a coroutine that forks, as the library sees it whatever the type of its result.
// ForkTree is the tree that it belongs to, ForkRun the part of it that one agent runs; ChildCount
// counts a coroutine's children that run beside it.
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
// Roles   parent: whoever runs the coroutine; one at a time.  child: a child that has ended, on
//         the thread that ran it.
// States  While the parent runs, ended_ is the number of children that have ended. While the parent
//         waits, it is that number minus away_.
// I1      A child counts itself once, and only if the parent's continuation was stolen from it.
//         away_ is the number of such children since the last join; the parent knows it before it
//         goes on.
// I2      ended_ changes from -1 to 0 only while the parent waits, and only by its last child. That
//         child runs the parent from there on.
// Edge    children: end -> end, wait, look. Carries the child's result to the parent;
//         read-modify-writes extend each other's release sequences.
// Edge    children: wait -> end. Carries the parent's frame to the last child.
// Progress  wait-free.   Proof  stress/model/models/fork_deque.cpp
class ChildCount {
 public:
  /// Called by the parent: its continuation was stolen, so one more child runs beside it.
  void add() noexcept { ++away_; }

  /// Called by the parent, which goes on: whether none of its children runs any more.   Cost:
  /// nothing without thefts, else a load.
  [[nodiscard]] bool all_ended() noexcept {
    if (away_ == 0) return true;
    if (ended_.load(sync::edge("children:look", sync::acquire)) != away_) return false;
    restart();
    return true;
  }

  /// Called by the parent, which is about to stop. Returns whether it may go on at once. Otherwise
  /// the child that ends last runs the parent, perhaps before this call returns.
  [[nodiscard]] bool wait() noexcept {
    if (away_ == 0) return true;
    const std::int32_t away = away_;
    if (ended_.fetch_sub(away, sync::edge("children:wait", sync::acq_rel)) != away) return false;
    away_ = 0;
    return true;
  }

  /// Called by a child that has ended beside its parent, which may be gone afterwards. True: the
  /// parent was waiting for this child alone, and the caller must run the parent.
  [[nodiscard]] bool end_child() noexcept {
    if (ended_.fetch_add(1, sync::edge("children:end", sync::acq_rel)) != -1) return false;
    away_ = 0;
    return true;
  }

 private:
  void restart() noexcept {
    away_ = 0;
    ended_.store(0,
                 sync::relaxed);  // relaxed: no child is left; a theft comes before the next.
  }

  std::int32_t away_ = 0;
  sync::atomic<std::int32_t> ended_{0};
};

class ControlledTask;
class ForkFrame;

/// What a root and all its descendants share, and who is told of the root's end.
struct ForkTree {
  /// The scheduling state of whoever awaits the root; the awaiting side outlives the tree.
  SchedulingState state = {};
  ForkFrame* root = nullptr;
  /// The task whose callback returned the root; the task ends with the root. Null if a coroutine
  /// awaits the root.
  ControlledTask* task = nullptr;
  /// Called on the agent on which the root has ended; the tree may be gone afterwards.
  void (*ended)(ForkTree&) noexcept = nullptr;
};

/// Runs a root, and its descendants depth-first, until it has ended or what is left of it runs on
/// other agents.
///
/// Thread: an agent.   Cost: constant stack.
HEIST_EXPORT void run_tree(ForkTree& tree) noexcept;

/// What an agent that runs a part of a tree, and the coroutine that it has resumed, tell each
/// other. A coroutine that waits for a call resumes it itself, up to some depth: most calls end
/// before their caller is wanted elsewhere, and then their caller goes on at once. In all other
/// cases the coroutine says why it has suspended, and returns to the loop that resumed the first
/// one (TreeRun), which does what follows.
///
/// I1  A coroutine that waits for a call touches neither its frame nor its awaiter afterwards,
///     unless that call went back to it here. Another agent may have resumed or destroyed the
///     frame: its continuation was stolen, or that of its child, which then ended there.
///
/// Thread: the agent's.
class HEIST_EXPORT ForkRun {
 public:
  /// `go_on`: nothing is to be done before `next` runs. `go_back`: the same, and `next` is the
  /// caller of what has ended, which goes on where it waited for that. `join`: the coroutine waits
  /// for its children. `end`: it has ended, and its frame is still there.
  enum class Step : std::uint8_t { go_on, go_back, join, end };
  /// How a caller runs a call. `called`: it waits for the call. `forked_in_place`: it forked the
  /// call, but had to wait. `forked`: it forked the call, and may run on another agent meanwhile.
  /// `caller_was_stolen`: the call has found out that it does.
  enum class Way : std::uint8_t { called, forked_in_place, forked, caller_was_stolen };

  /// `is_stealable`: whether other agents may take parts of the tree.
  explicit ForkRun(bool is_stealable) noexcept : is_stealable_(is_stealable) {}

  /// Called by a coroutine that has suspended for a call. Returns true when the call has ended and
  /// the coroutine goes on; otherwise the coroutine may be gone.
  [[nodiscard]] bool call(ForkFrame& caller, ForkFrame& child) noexcept;
  /// The same, but others may go on with the coroutine meanwhile.
  [[nodiscard]] bool fork(ForkFrame& caller, ForkFrame& child) noexcept;

  void go_back_to(ForkFrame& caller) noexcept {
    next = &caller;
    step = Step::go_back;
  }
  /// Called by a forked child that has ended: takes its parent back from those who may steal it.
  /// Returns false when it was stolen.
  [[nodiscard]] bool take_back() noexcept;

  ForkFrame* next = nullptr;
  Step step = Step::go_on;

 protected:
  ~ForkRun() = default;

  /// Resumes a frame, and does what has to follow. Afterwards `next` is the frame that is to run
  /// next, or null when nothing is left to run here.
  void resume(ForkFrame& frame) noexcept;

 private:
  /// It bounds the stack that calls take. Beyond it all of them return to TreeRun, which goes on
  /// with the innermost one.
  static constexpr std::uint8_t most_depth = 32;

  /// Resumes a call. Returns whether it has ended and its caller goes on here.
  [[nodiscard]] bool resume_for(const ForkFrame& caller, ForkFrame& child) noexcept;
  /// Lets others go on with the parent. Returns false when there is no room for it.
  [[nodiscard]] bool leave_behind(ForkFrame& parent) noexcept;
  void after_stop(ForkFrame& frame) noexcept;

  const bool is_stealable_;
  std::uint8_t depth_ = 0;  ///< how many coroutines are in call() or fork()
};

/// The part of a coroutine's promise that does not depend on its result.
///
/// Roles   runner: the agent that resumed the coroutine; the deque or ChildCount orders the next
///         runner behind it. child: a frame that has ended and tells its parent.
/// States  not started -> (running <-> suspended for a child, in a fork deque, or waiting for
///         children) -> landed, or ended.
/// I1      A frame may land if no child of it runs when its body ends, it has not failed, and its
///         caller has not been stolen: it puts its result into the caller's frame (Landing), and is
///         gone when its runner goes on.
/// I2      Whoever holds the result of any other frame destroys that frame: a Forkable, a Landing
///         or a Forked. If that handle was destroyed while children ran, the parent destroys the
///         frame once they have ended.
/// I3      If several errors meet (of children, or the coroutine's own), the first one is kept.
class HEIST_EXPORT ForkFrame : public LoopNode {
 public:
  using Way = ForkRun::Way;

  ForkFrame() noexcept : LoopNode(stolen) {}

  // For the coroutine itself.

  /// Both return whether the child has ended and the coroutine goes on at once. Otherwise the frame
  /// may be gone.
  [[nodiscard]] bool call(ForkFrame& child) noexcept { return run->call(*this, child); }
  [[nodiscard]] bool fork(ForkFrame& child) noexcept { return run->fork(*this, child); }
  void suspend(ForkRun::Step why) noexcept { run->step = why; }
  /// Called at its end by a frame with a caller. Returns whether the caller goes on after it, in
  /// the same run, so that the frame can land.
  [[nodiscard]] bool goes_before_caller() noexcept {
    if (!children.all_ended() || has_failed()) return false;  // in this order: children may fail it
    destroy_dropped();
    if (way != Way::forked || run->take_back()) return true;
    way = Way::caller_was_stolen;
    return false;
  }
  void fail() noexcept { fail_with(Reason::of_current_exception()); }
  /// Called after the children have ended. Throws the error that one of them threw.
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

  // For whoever runs the frame, or knows that it has ended.

  [[nodiscard]] bool has_failed() const noexcept {
    return failed_.load(sync::relaxed);  // relaxed: ChildCount or the deque orders it.
  }
  [[nodiscard]] const Reason& error() const noexcept { return error_; }

  // For the loop that runs the frame.

  /// Several children may call it at once.
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
  ForkRun* run = nullptr;       ///< that resumed it last
  ForkFrame* parent = nullptr;  ///< null: the root
  ForkTree* tree = nullptr;     ///< set before other agents may take the frame
  ChildCount children;
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

inline bool ForkRun::call(ForkFrame& caller, ForkFrame& child) noexcept {
  child.parent = &caller;
  return resume_for(caller, child);
}

inline bool ForkRun::fork(ForkFrame& caller, ForkFrame& child) noexcept {
  child.parent = &caller;  // first, because whoever takes the caller may ask its child for it
  // No thief reads how the child is run, so that may be written afterwards.
  child.way = is_stealable_ && leave_behind(caller) ? Way::forked : Way::forked_in_place;
  return resume_for(caller, child);
}

inline bool ForkRun::resume_for(const ForkFrame& caller, ForkFrame& child) noexcept {
  if (depth_ == most_depth) [[unlikely]] {
    next = &child;
    step = Step::go_on;
    return false;
  }
  ++depth_;
  resume(child);
  --depth_;
  return step == Step::go_back && next == &caller;
}

inline void ForkRun::resume(ForkFrame& frame) noexcept {
  frame.run = this;
  frame.coroutine.resume();
  if (step == Step::join || step == Step::end) [[unlikely]]
    after_stop(frame);
}

}  // namespace HEIST_NAMESPACE::detail
