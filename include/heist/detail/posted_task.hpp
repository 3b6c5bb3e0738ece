// The concrete types of tasks. Each holds a callable, and whatever belongs to it, in one node.
#pragma once

#include <exception>
#include <heist/detail/access.hpp>
#include <heist/detail/adoption.hpp>
#include <heist/detail/promise_traits.hpp>
#include <heist/detail/report_error.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/task_tree.hpp>
#include <heist/error.hpp>
#include <heist/version.hpp>
#include <optional>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// A task of post() without a signal: it holds nothing but the callable.
template <class Callback>
class PlainTask final : public SchedulerTask {
 public:
  template <class F>
  explicit PlainTask(F&& callback)
      : SchedulerTask(table, false), callback_(std::forward<F>(callback)) {}

 private:
  static PlainTask& of(LoopNode& node) noexcept {
    return static_cast<PlainTask&>(static_cast<SchedulerTask&>(node));
  }
  static void run(LoopNode& node, LoopCore& /*loop*/) noexcept {
    invoke_and_report(of(node).callback_, ErrorOrigin::task);
    destroy_node(of(node));
  }
  static void drop(LoopNode& node) noexcept { destroy_node(of(node)); }

  static constexpr LoopNodeOps table{LoopNodeKind::task, &run, &drop};

  Callback callback_;
};

/// A task of post() with a signal.
template <class Callback>
class SignalledTask final : public ControlledTask {
 public:
  template <class F>
  explicit SignalledTask(F&& callback)
      : ControlledTask(table), callback_(std::forward<F>(callback)) {}

 private:
  static SignalledTask& of(SchedulerTask& task) noexcept {
    return static_cast<SignalledTask&>(ControlledTask::of(task));
  }
  static TaskOutcome invoke(SchedulerTask& task, Reason& error) noexcept {
    std::exception_ptr thrown;
    try {
      (*of(task).callback_)();
    } catch (...) {
      thrown = std::current_exception();
    }
    if (!thrown) return TaskOutcome::value;
    error = Reason::of(std::move(thrown));
    return TaskOutcome::exception;
  }
  static void settle(SchedulerTask& task, TaskOutcome outcome, Reason& error) noexcept {
    if (outcome == TaskOutcome::exception) report_error(ErrorOrigin::task, error);
    retire(task);
  }
  static void discard_outcome(SchedulerTask& /*task*/, TaskOutcome /*outcome*/) noexcept {}
  static void reject(SchedulerTask& /*task*/, const Reason& /*reason*/) noexcept {}
  static void discard_callback(SchedulerTask& task) noexcept { of(task).callback_.reset(); }
  static void retire(SchedulerTask& task) noexcept { release_share(task); }
  static void release_share(SchedulerTask& task) noexcept {
    if (of(task).memory.drop_or_be_last()) destroy_node(of(task));
  }
  static constexpr TaskOps table{{LoopNodeKind::task, &run_controlled_task, &drop_controlled_task},
                                 &invoke,
                                 &settle,
                                 &discard_outcome,
                                 &reject,
                                 &discard_callback,
                                 &retire,
                                 &release_share};

  std::optional<Callback> callback_;
};

/// A task of post_task: callable and promise. A callback that returns a promise lives until that
/// promise settles, so that a coroutine lambda may use its captures. The same holds for a callback
/// that returns a Forkable.
template <class Callback>
class PromiseTask final : public ControlledTask,
                          public PromiseState<SettledType<std::invoke_result_t<Callback&>>> {
 public:
  using Returned = std::invoke_result_t<Callback&>;
  using Result = SettledType<Returned>;
  using State = PromiseState<Result>;

  template <class F>
  explicit PromiseTask(F&& callback)
      : ControlledTask(table), State(&destroy, 2), callback_(std::forward<F>(callback)) {}

  /// Precondition: the task has not ended.
  [[nodiscard]] const Callback& callback() const noexcept { return *callback_; }

 private:
  struct Returning {
    Promise<Result> promise;
    std::optional<Adoption<Result>> adoption;
  };
  struct NotReturning {};
  static constexpr bool adopts = is_promise<Returned>;
  static constexpr bool forks = is_forkable<Returned>;

  static PromiseTask& of(SchedulerTask& task) noexcept {
    return static_cast<PromiseTask&>(ControlledTask::of(task));
  }

  static TaskOutcome invoke(SchedulerTask& task, Reason& error) noexcept {
    std::exception_ptr thrown;
    try {
      return of(task).call();
    } catch (...) {
      thrown = std::current_exception();
    }
    error = Reason::of(std::move(thrown));
    return TaskOutcome::exception;
  }
  TaskOutcome call() {
    if constexpr (adopts) {
      returned_.emplace((*callback_)(), std::nullopt);
      return TaskOutcome::promise;
    } else if constexpr (forks) {
      Returned root = (*callback_)();
      Access::check_valid(root, "post_task: what the callback returned");
      returned_.emplace(*this, std::move(root), &end_tree);
      run_tree_of_task(*returned_);
      return TaskOutcome::forked;
    } else if constexpr (std::is_void_v<Returned>) {
      (*callback_)();
      this->emplace();
    } else if constexpr (std::is_reference_v<Returned>) {
      this->emplace(std::addressof((*callback_)()));
    } else {
      this->emplace((*callback_)());
    }
    return TaskOutcome::value;
  }

  static void settle(SchedulerTask& task, TaskOutcome outcome, Reason& error) noexcept {
    auto& self = of(task);
    if constexpr (adopts) {
      if (outcome == TaskOutcome::promise || outcome == TaskOutcome::late_promise) {
        return self.adopt(outcome == TaskOutcome::promise);
      }
    }
    if constexpr (forks) {
      if (outcome == TaskOutcome::forked) return self.leave_tree();
    }
    if (outcome == TaskOutcome::exception) {
      self.settle_rejected(std::move(error), false);
    } else {
      self.settle_fulfilled_as_holder();
    }
    retire(task);
  }
  static void end_tree(ForkTree& tree) noexcept
    requires forks
  {
    of(*tree.task).leave_tree();
  }
  void leave_tree() noexcept
    requires forks
  {
    if (!returned_->is_last()) return;
    Reason error;
    const TaskOutcome outcome = keep_result(error);
    returned_.reset();
    callback_.reset();
    finish_task(*this, outcome, error);
  }
  TaskOutcome keep_result(Reason& error) noexcept
    requires forks
  {
    if (returned_->root->has_failed()) {
      error = returned_->root->error();
      return TaskOutcome::exception;
    }
    try {
      if constexpr (std::is_void_v<Result>) {
        returned_->take();
        this->emplace();
      } else if constexpr (std::is_reference_v<Result>) {
        this->emplace(std::addressof(returned_->take()));
      } else {
        this->emplace(returned_->take());
      }
    } catch (...) {
      error = Reason::of_current_exception();
      return TaskOutcome::exception;
    }
    return TaskOutcome::value;
  }
  void adopt(bool decides) noexcept
    requires adopts
  {
    returned_->adoption.emplace(
        Adopter<Result>{static_cast<State*>(this), decides, &discard_adopting, &adopted});
    returned_->adoption->start(std::move(returned_->promise));
  }
  static void discard_adopting(State& state) noexcept {
    static_cast<PromiseTask&>(state).callback_.reset();
  }
  static void adopted(State& state) noexcept {
    auto& self = static_cast<PromiseTask&>(state);
    self.returned_.reset();
    retire(self);
  }

  static void discard_outcome(SchedulerTask& task, TaskOutcome outcome) noexcept {
    if (outcome == TaskOutcome::value) of(task).discard_value();
  }
  static void reject(SchedulerTask& task, const Reason& reason) noexcept {
    of(task).settle_rejected(reason, true);
  }
  static void discard_callback(SchedulerTask& task) noexcept { of(task).callback_.reset(); }
  static void retire(SchedulerTask& task) noexcept {
    release(static_cast<PromiseStateBase&>(of(task)));
  }
  static void release_share(SchedulerTask& task) noexcept {
    if (of(task).memory.drop_or_be_last()) destroy_node(of(task));
  }
  static const PromiseStateBase* promise_of(SchedulerTask& task) noexcept { return &of(task); }
  /// No handle is left. The value is destroyed now; the node stays until the registry has released
  /// it too.
  static void destroy(PromiseStateBase& base) noexcept {
    auto& self = static_cast<PromiseTask&>(static_cast<State&>(base));
    self.discard_value();
    self.discard_reason();
    release_share(self);
  }

  static constexpr TaskOps table{{LoopNodeKind::task, &run_controlled_task, &drop_controlled_task},
                                 &invoke,
                                 &settle,
                                 &discard_outcome,
                                 &reject,
                                 &discard_callback,
                                 &retire,
                                 &release_share,
                                 &promise_of};

  std::optional<Callback> callback_;
  std::conditional_t<adopts, std::optional<Returning>,
                     std::conditional_t<forks, std::optional<TaskTree<Result>>, NotReturning>>
      returned_;
};

}  // namespace HEIST_NAMESPACE::detail
