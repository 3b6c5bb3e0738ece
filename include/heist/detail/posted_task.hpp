// The concrete types of tasks. Each holds a callable, and whatever belongs to it, in one node.
#pragma once

#include <exception>
#include <heist/detail/access.hpp>
#include <heist/detail/adoption.hpp>
#include <heist/detail/labelled_node.hpp>
#include <heist/detail/promise_traits.hpp>
#include <heist/detail/report_error.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/task_tree.hpp>
#include <heist/error.hpp>
#include <heist/version.hpp>
#include <memory>
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
  /// Called by make_labelled_node().
  void be_labelled() noexcept { set_labelled(labelled_table); }

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

  // The same with a label. Tasks without one are not asked whether they have one as they end.
  static void run_labelled(LoopNode& node, LoopCore& /*loop*/) noexcept {
    invoke_and_report(of(node).callback_, ErrorOrigin::task);
    destroy_perhaps_labelled(of(node));
  }
  static void drop_labelled(LoopNode& node) noexcept { destroy_perhaps_labelled(of(node)); }
  static const LoopNodeOps labelled_table;

  Callback callback_;
};

template <class Callback>
constinit const LoopNodeOps PlainTask<Callback>::labelled_table{LoopNodeKind::task, &run_labelled,
                                                                &drop_labelled, sizeof(PlainTask)};

/// A task of post() with a signal. Its callback is destroyed once, before the last share of its
/// memory goes: after the callback has returned, or by whoever disposes of the task. So nothing has
/// to say whether the callback is still there.
template <class Callback>
class SignalledTask final : public ControlledTask {
 public:
  template <class F>
  explicit SignalledTask(F&& callback)
      : ControlledTask(table, &links_), callback_(std::forward<F>(callback)) {}
  ~SignalledTask() {}  // the callback is gone
  /// Called by make_labelled_node().
  void be_labelled() noexcept { this->set_labelled(labelled_table); }

 private:
  static SignalledTask& of(SchedulerTask& task) noexcept {
    return static_cast<SignalledTask&>(ControlledTask::of(task));
  }
  static TaskOutcome invoke(SchedulerTask& task, Reason& error) noexcept {
    std::exception_ptr thrown;
    try {
      of(task).callback_();
    } catch (...) {
      thrown = std::current_exception();
    }
    if (!thrown) return TaskOutcome::value;
    error = Reason::of(std::move(thrown));
    return TaskOutcome::exception;
  }
  /// Called for an exception only: nobody waits for anything else.
  static void settle(SchedulerTask& task, TaskOutcome /*outcome*/, Reason& error) noexcept {
    report_error(ErrorOrigin::task, error);
    retire(task);
  }
  static void reject(SchedulerTask& /*task*/, const Reason& /*reason*/) noexcept {}
  static void discard_callback(SchedulerTask& task) noexcept {
    std::destroy_at(std::addressof(of(task).callback_));
  }
  static void retire(SchedulerTask& task) noexcept { release_share(task); }
  static void release_share(SchedulerTask& task) noexcept {
    if (of(task).links_.memory.drop_or_be_last()) destroy_perhaps_labelled(of(task));
  }
  /// Nobody calls what is null: no late outcome is dropped, and no close or fork takes a share.
  static constexpr TaskOps table{{LoopNodeKind::task, &run_signalled_task, &drop_controlled_task},
                                 &invoke,
                                 &settle,
                                 nullptr,
                                 &reject,
                                 &discard_callback,
                                 &retire,
                                 nullptr,
                                 &release_share};
  static const TaskOps labelled_table;

  SignalLinks links_{*this};
  union {
    // NOLINTNEXTLINE(readability-identifier-naming): private, as the union is
    Callback callback_;
  };
};

template <class Callback>
constinit const TaskOps SignalledTask<Callback>::labelled_table =
    labelled_ops(table, sizeof(SignalledTask));

/// A task of post_task: callable and promise. A callback that returns a promise lives until that
/// promise settles, so that a coroutine lambda may use its captures. The same holds for a callback
/// that returns a Forkable.
///
/// Without signals the promise's shares keep the node, too. With signals the links stand behind the
/// task in the same node, which their shares keep: the value goes with the last handle, the node
/// when the registry has let go of it.
template <class Callback>
class PromiseTask final : public ControlledTask,
                          public PromiseState<SettledType<std::invoke_result_t<Callback&>>> {
 public:
  using Returned = std::invoke_result_t<Callback&>;
  using Result = SettledType<Returned>;
  using State = PromiseState<Result>;

  template <class F>
  [[nodiscard]] static PromiseTask* make(bool has_signals, const TaskLabel& label, F&& callback) {
    static_assert(alignof(PromiseTask) <= 64, "nodes are aligned to 64 bytes at the most");
    static_assert(sizeof(SignalLinks) % 64 == 0, "nodes of such sizes are aligned to 64 bytes");
    const std::size_t size = bytes(has_signals) + (label.empty() ? 0 : label_bytes<PromiseTask>);
    void* memory = allocate_node(size);
    try {
      auto* const task = ::new (memory) PromiseTask(has_signals, std::forward<F>(callback));
      if (!label.empty()) task->be_labelled(label);
      return task;
    } catch (...) {
      release_node(memory, size);
      throw;
    }
  }

  /// Precondition: the task has not ended.
  [[nodiscard]] const Callback& callback() const noexcept { return *callback_; }

 private:
  template <class F>
  PromiseTask(bool has_signals, F&& callback)
      : ControlledTask(table, has_signals ? ::new(end()) SignalLinks(*this) : nullptr),
        State(&destroy, 2),
        callback_(std::forward<F>(callback)) {}
  ~PromiseTask() = default;

  void be_labelled(const TaskLabel& label) noexcept {
    ::new (reinterpret_cast<std::byte*>(this) + bytes(this->links != nullptr)) TaskLabel(label);
    this->set_labelled(this->links != nullptr ? labelled_signalled_table : labelled_table);
  }

  /// Where the links are.
  [[nodiscard]] void* end() noexcept { return this + 1; }
  [[nodiscard]] static constexpr std::size_t bytes(bool has_signals) noexcept {
    return sizeof(PromiseTask) + (has_signals ? sizeof(SignalLinks) : 0);
  }

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
  static void add_share(SchedulerTask& task) noexcept {
    auto& self = of(task);
    self.links != nullptr ? self.links->memory.add() : retain(static_cast<PromiseStateBase&>(self));
  }
  static void release_share(SchedulerTask& task) noexcept {
    auto& self = of(task);
    if (self.links == nullptr) return release(static_cast<PromiseStateBase&>(self));
    if (self.links->memory.drop_or_be_last()) self.destroy_task();
  }
  void destroy_task() noexcept {
    SignalLinks* const at_end = links;
    const std::size_t label = this->has_label ? label_bytes<PromiseTask> : 0;
    this->~PromiseTask();
    if (at_end != nullptr) at_end->~SignalLinks();
    release_node(this, bytes(at_end != nullptr) + label);
  }
  static const PromiseStateBase* promise_of(SchedulerTask& task) noexcept { return &of(task); }
  /// No handle is left. The value is destroyed now; the node stays until the registry has released
  /// it too.
  static void destroy(PromiseStateBase& base) noexcept {
    auto& self = static_cast<PromiseTask&>(static_cast<State&>(base));
    if (self.links == nullptr) return self.destroy_task();
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
                                 &add_share,
                                 &release_share,
                                 &promise_of};
  static const TaskOps labelled_table;
  static const TaskOps labelled_signalled_table;

  std::optional<Callback> callback_;
  [[no_unique_address]]
  std::conditional_t<adopts, std::optional<Returning>,
                     std::conditional_t<forks, std::optional<TaskTree<Result>>, NotReturning>>
      returned_;
};

template <class Callback>
constinit const TaskOps PromiseTask<Callback>::labelled_table = labelled_ops(table, bytes(false));
template <class Callback>
constinit const TaskOps PromiseTask<Callback>::labelled_signalled_table =
    labelled_ops(table, bytes(true));

}  // namespace HEIST_NAMESPACE::detail
