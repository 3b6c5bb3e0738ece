#include <heist/detail/levels.hpp>
// This file has how an agent runs its part of a tree of forked calls.
#include <heist/detail/fork_frame.hpp>
#include <heist/detail/task_tree.hpp>
#include <utility>

#include "../loop/loop_core.hpp"
#include "../signal/signal_core.hpp"
#include "cluster_core.hpp"
#include "member.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

/// Runs a root, or a stolen call, and everything below it, until nothing is left that this agent
/// could go on with.
///
/// I1  A call that ends finds the continuation of its caller at the end of the deque, or finds the
///     deque empty. While the call ran, this agent left behind and took back only what belongs to
///     the call, even in trees that calls begin in their bodies. Thieves take from the other end.
/// I2  So an agent that picks has left nothing behind.
class TreeRun final : public ForkRun {
 public:
  TreeRun(LoopCore& loop, ForkTree& tree) noexcept
      : TreeRun(loop, tree, member_of(loop, tree.state)) {}

  void run(ForkFrame& first) noexcept HEIST_ON_AGENT {
    outer_ = loop_.on_agent().current;
    loop_.on_agent().change_current(tree_.state);
    next = &first;
    do {
      resume(*next);
    } while (next != nullptr);
    loop_.on_agent().change_current(outer_);
  }

  [[nodiscard]] LoopCore& loop() const noexcept { return loop_; }
  [[nodiscard]] bool unfork() noexcept HEIST_ON_AGENT { return forks_->pop() != nullptr; }
  void after_stop(ForkFrame& frame) noexcept HEIST_ON_AGENT {
    const Step why = std::exchange(step, Step::go_on);
    next = why == Step::end ? end(frame) : frame.children.wait() ? &frame : nullptr;
  }
  [[nodiscard]] bool leave_behind(ForkFrame& parent) noexcept HEIST_ON_AGENT {
    parent.tree = &tree_;
    return queues().fork(member_->index(), *forks_, parent, level_);
  }

 private:
  TreeRun(LoopCore& loop, ForkTree& tree, Member* member) noexcept
      : ForkRun(member != nullptr),
        loop_(loop),
        tree_(tree),
        member_(member),
        level_(level_of(tree.state)),
        forks_(member != nullptr ? &queues().forks(member->index(), level_) : nullptr) {}

  using Queues = ClusterCore::Queues;
  [[nodiscard]] Queues& queues() const noexcept { return member_->core().queues(); }

  /// The member from which others may steal parts of this tree; null when nobody may.
  static Member* member_of(const LoopCore& loop, const SchedulingState& state) noexcept {
    const bool is_stealable =
        state.scheduler != nullptr && loop.is_member_of(state.scheduler->home);
    return is_stealable ? Member::of(loop) : nullptr;
  }
  static int level_of(const SchedulingState& state) noexcept {
    SignalCore* source = state.priority_source;
    TaskPriority priority = source != nullptr ? source->scheduling_priority() : state.priority;
    if (state.scheduler != nullptr) priority = state.scheduler->capped(priority);
    return effective_priority(priority, true);
  }

  /// If this was the last child of a parent that has already returned, ends the parent as well.
  ForkFrame* end(ForkFrame& last) noexcept HEIST_ON_AGENT {
    for (ForkFrame* ended = &last;;) {
      ended->has_ended = true;
      if (!ended->children.wait()) return nullptr;
      ended->destroy_dropped();
      ForkFrame* const parent = ended->parent;
      if (parent == nullptr) return end_tree();
      if (!leave(*ended)) return nullptr;
      if (!parent->has_ended) return parent;
      ended = parent;
    }
  }
  /// Ends a child. Returns true when its parent has to go on here. The child may be gone
  /// afterwards.
  bool leave(ForkFrame& child) noexcept HEIST_ON_AGENT {
    if (child.way != Way::called && child.has_failed()) [[unlikely]]
      child.hand_error_to_parent();
    if (goes_before_parent(child)) {
      step = Step::go_back;
      return true;
    }
    return child.parent->children.end_child();
  }
  bool goes_before_parent(const ForkFrame& child) noexcept HEIST_ON_AGENT {
    return child.way == Way::called || child.way == Way::forked_in_place ||
           (child.way == Way::forked && unfork());
  }
  ForkFrame* end_tree() noexcept HEIST_ON_AGENT {
    loop_.on_agent().change_current(outer_);  // what the state borrows may end with the tree
    tree_.ended(tree_);
    return nullptr;
  }

  LoopCore& loop_;
  ForkTree& tree_;
  Member* const member_;
  const int level_;
  Queues::Forks* const forks_;  ///< as member_
  SchedulingState outer_;
};

/// The tree of a task counts as that task, on whatever agent a part of it runs.
void say_runs(LoopCore& loop, const ForkTree& tree, bool is_counted) noexcept {
  auto& activity = loop.counts().activity();
  if (tree.task != nullptr) return activity.say_runs(static_cast<const SchedulerTask*>(tree.task));
  is_counted ? activity.say_runs(&tree) : activity.say_runs_uncounted(&tree);
}

/// While an agent runs a stolen part of a task's tree, it makes the task known there, so that a
/// close finds it (LIF-1). It also keeps the task's memory, because the tree may end on another
/// agent as soon as this part is done.
class PublishedPart {
 public:
  PublishedPart(LoopCore& loop, const ForkTree& tree) noexcept : loop_(loop), task_(tree.task) {
    loop_.assert_agent();
    if (task_ != nullptr) {
      task_->task_ops().add_share(*task_);
      loop_.running_task().publish(*task_);
    }
    say_runs(loop_, tree, false);
  }
  ~PublishedPart() {
    if (task_ == nullptr) return;
    loop_.assert_agent();
    loop_.running_task().withdraw(*task_);
    task_->task_ops().release_share(*task_);
  }
  PublishedPart(const PublishedPart&) = delete;
  PublishedPart& operator=(const PublishedPart&) = delete;

 private:
  LoopCore& loop_;
  ControlledTask* const task_;
};

void run_root(LoopCore& loop, ForkTree& tree) noexcept HEIST_ON_AGENT {
  TreeRun(loop, tree).run(*tree.root);
}

}  // namespace

const LoopNodeOps ForkFrame::stolen{LoopNodeKind::forked, &run_stolen, nullptr};

void ForkFrame::run_stolen(LoopNode& node, LoopCore& loop) noexcept {
  auto& frame = static_cast<ForkFrame&>(node);
  loop.assert_agent();
  frame.children.add();
  ForkTree& tree = *frame.tree;
  const PublishedPart part(loop, tree);
  TreeRun(loop, tree).run(frame);
}

bool ForkRun::leave_behind(ForkFrame& parent) noexcept {
  auto& run = static_cast<TreeRun&>(*this);
  run.loop().assert_agent();
  return run.leave_behind(parent);
}

void ForkRun::after_stop(ForkFrame& frame) noexcept {
  auto& run = static_cast<TreeRun&>(*this);
  run.loop().assert_agent();
  run.after_stop(frame);
}

bool ForkRun::take_back() noexcept {
  auto& run = static_cast<TreeRun&>(*this);
  run.loop().assert_agent();
  return run.unfork();
}

void ForkFrame::fail_with(Reason error) noexcept {
  if (!error) error = no_reason_given();
  // relaxed: ChildCount, or the deque, brings the winner's error to the parent.
  if (!failed_.exchange(true, sync::relaxed)) error_ = std::move(error);
}

void run_tree(ForkTree& tree) noexcept {
  LoopCore& loop = *loop_of_this_thread;
  loop.assert_agent();
  const auto outer = loop.counts().activity().said();
  say_runs(loop, tree, loop.counts().activity().running().is_counted);
  run_root(loop, tree);
  loop.counts().activity().say_again(outer);
}

void run_tree_of_task(ForkTree& tree) noexcept {
  LoopCore& loop = *loop_of_this_thread;
  loop.assert_agent();
  tree.state = loop.on_agent().current;
  run_root(loop, tree);
}

}  // namespace HEIST_NAMESPACE::detail
