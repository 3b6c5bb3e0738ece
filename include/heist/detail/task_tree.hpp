// TaskTree: the tree of coroutines of a task whose callback returned a Forkable.
#pragma once

#include <heist/detail/access.hpp>
#include <heist/detail/export.hpp>
#include <heist/detail/fork_frame.hpp>
#include <heist/detail/sync.hpp>
#include <heist/version.hpp>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// Runs a tree with the scheduling state of the running task.   Thread: an agent.
HEIST_EXPORT void run_tree_of_task(ForkTree& tree) noexcept;

/// The task ends when both its callback has returned and the tree has ended, perhaps on another
/// agent.
///
/// Roles   starter: the agent that runs the task.  ender: the agent on which the root ends,
///         perhaps the same one.
/// I1      Each of the two calls is_last() once. It does not touch the task afterwards unless it is
///         the last.
/// Edge    tree: meet -> meet. Carries the first one's side to the last.
template <class T>
class TaskTree : public ForkTree {
 public:
  /// `on_end`: see ForkTree::ended.
  TaskTree(ControlledTask& of, Forkable<T>&& call, void (*on_end)(ForkTree&) noexcept) noexcept
      : call_(std::move(call)) {
    root = &Access::frame(call_);
    task = &of;
    ended = on_end;
  }

  [[nodiscard]] bool is_last() noexcept {
    return met_.exchange(true, sync::edge("tree:meet", sync::acq_rel));
  }
  /// Called by the last.   Precondition: the root has not failed.
  T take() { return Access::frame(call_).take(); }

 private:
  Forkable<T> call_;
  sync::atomic<bool> met_{false};
};

}  // namespace HEIST_NAMESPACE::detail
