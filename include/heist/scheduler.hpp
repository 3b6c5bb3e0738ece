// Scheduler: the handle through which tasks are posted; resume_on: a coroutine goes on elsewhere.
#pragma once

#include <concepts>
#include <heist/abort_signal.hpp>
#include <heist/delay.hpp>
#include <heist/detail/export.hpp>
#include <heist/detail/misuse.hpp>
#include <heist/detail/posted_task.hpp>
#include <heist/priority.hpp>
#include <heist/promise.hpp>
#include <heist/task_label.hpp>
#include <heist/task_signal.hpp>
#include <heist/version.hpp>
#include <heist/yield.hpp>
#include <optional>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE {

/// Options of post_task and post.
///
/// Spec: [sched#dictdef-schedulerposttaskoptions].
struct PostTaskOptions {
  /// Aborts the task; a TaskSignal, by whatever handle, also gives its priority when none is set
  /// here.
  std::optional<AbortSignal> signal = {};
  /// Fixes the priority (default: the signal's, else user-visible).
  std::optional<TaskPriority> priority = {};
  /// Time before the task becomes runnable, counted from the call.
  Delay delay = {};
  /// What the task is called in dumps, traces, and by the watchdog. A task with a label is timed as
  /// it starts and ends, which takes some 20 ns.
  TaskLabel label = {};
};

/// Posts tasks to one event loop, or to any agent of a cluster. A cheap handle; several may share a
/// loop and its order.
///
/// Spec:     [sched#sec-scheduler].   Differs: usable from any thread (contract ORD-1…5).
/// Thread:   any; one handle is used by one thread at a time, copies may be anywhere.
/// Lifetime: may outlive its loop; posting then is refused as below (LIF-1, LIF-2). A callback may
///           own the handle through which it is posted, which moves with it then.
class HEIST_EXPORT Scheduler {
 public:
  /// Runs `callback()` as a task; the promise gives its result, its exception or the abort reason.
  /// A promise that the callback returns is adopted; a Forkable is run as part of the task.
  ///
  /// Spec:   [sched#schedule-a-posttask-task].
  /// Thread: any, lock-free.   Blocks: never.   Cost: one allocation, from a recycled pool; the
  /// first task of a signal here takes one more, or two if the signal follows another's priority.
  /// The ninth registration with a signal takes one more, too.
  /// Errors: std::bad_alloc (nothing changed); std::invalid_argument for a value that is no
  /// TaskPriority, for a callback that is null or empty, and for a handle that was moved from (this
  /// one, or the options' signal). An aborted signal gives a promise rejected with its reason; a
  /// closed loop, with InvalidStateError. Options that are moved into the call are unspecified
  /// afterwards.
  template <class Callback>
    requires std::invocable<std::decay_t<Callback>&>
  auto post_task(Callback&& callback) const {
    check_post_task(callback);
    return post_unsignalled(std::forward<Callback>(callback));
  }
  template <class Callback>
    requires std::invocable<std::decay_t<Callback>&>
  auto post_task(Callback&& callback, const PostTaskOptions& options) const {
    return post_task_with(std::forward<Callback>(callback), options);
  }
  template <class Callback>
    requires std::invocable<std::decay_t<Callback>&>
  auto post_task(Callback&& callback, PostTaskOptions&& options) const {
    return post_task_with(std::forward<Callback>(callback), options);
  }

  /// Runs `callback()` as a task and forgets it; exceptions go to the error hook. False: refused,
  /// because the loop is closed or the signal aborted; the callback will not run.
  ///
  /// Thread: any, lock-free.   Blocks: never.   Errors and cost: as post_task.
  template <class Callback>
    requires std::invocable<std::decay_t<Callback>&>
  bool post(Callback&& callback) const {
    check_post(callback);
    return post_plain(*detail::make_node<detail::PlainTask<std::decay_t<Callback>>>(
        std::forward<Callback>(callback)));
  }
  template <class Callback>
    requires std::invocable<std::decay_t<Callback>&>
  bool post(Callback&& callback, const PostTaskOptions& options) const {
    return post_with(std::forward<Callback>(callback), options);
  }
  template <class Callback>
    requires std::invocable<std::decay_t<Callback>&>
  bool post(Callback&& callback, PostTaskOptions&& options) const {
    return post_with(std::forward<Callback>(callback), options);
  }

  /// A scheduler of the same loop whose tasks and continuations never have a priority above
  /// `highest`: what asks for more, be it by a signal, gets `highest`. It is for code that must not
  /// use higher priorities; in its tasks current() gives the same scheduler. It is suspended by
  /// itself. Equal calls give the same scheduler.
  ///
  /// Spec:   contract SEC-1.   Thread: any, lock-free.   Blocks: never.
  /// Errors: std::invalid_argument for a value that is no TaskPriority; std::bad_alloc.
  /// Cost:   one allocation in the loop's life.
  [[nodiscard]] Scheduler with_ceiling(TaskPriority highest) const;

  /// Lets others run: `co_await scheduler.yield()` goes on as a continuation, one level above the
  /// tasks of its priority, where the coroutine ran before (off any agent: on this scheduler's).
  /// Abort and priority are those of the running task, unless the options say otherwise.
  ///
  /// Spec:   [sched#schedule-a-yield-continuation], contract YLD-1…3.
  /// Thread: any.   Blocks: never.
  /// Errors: of the `co_await`: the abort reason; InvalidStateError when the loop is closed;
  ///         std::bad_alloc; std::invalid_argument for a value that is no ContinuationPriority.
  ///         A close that drops the continuation of its own coroutine destroys that one's frame.
  /// Cost:   no allocation and nothing atomic on the coroutine's own agent without an abort source
  ///         and with a fixed priority; otherwise as post_task.
  Yield yield(YieldOptions options = {}) const;

  /// Suspends the scheduler: its tasks and continuations are not runnable, and keep their order;
  /// its delays stop counting. What runs goes on. Every pick that begins after the return heeds it.
  /// resume() ends it; several suspensions are one.
  ///
  /// Spec:   "not fully active" of [html#fully-active], contract SUS-1.   Differs: a delay posted
  ///         by another thread during a suspension counts until its agent takes it from the inbox.
  /// Thread: any, lock-free.   Blocks: never.   Errors: std::bad_alloc, nothing changed.
  /// Cost:   one allocation; the agent visits the loop's delayed tasks once, and sets queued ones
  ///         aside as they come up. resume() costs a step for each task held back, and one for each
  ///         older task of the same queue that another suspension had held back.
  void suspend() const;
  void resume() const;

  /// The scheduler of the running task or continuation; nothing outside any (YLD-5).
  ///
  /// Thread: any.   Cost: a thread-local load and one reference.
  [[nodiscard]] static std::optional<Scheduler> current() noexcept;

  /// False once moved from. Every call but copies and comparisons then throws
  /// std::invalid_argument.
  [[nodiscard]] bool valid() const noexcept { return static_cast<bool>(home_); }

  friend bool operator==(const Scheduler&, const Scheduler&) noexcept = default;

 private:
  friend struct detail::Access;

  Scheduler(detail::Ref<detail::TaskHome> home, detail::SchedulerCore* core) noexcept
      : home_(std::move(home)), core_(core) {}
  [[nodiscard]] const detail::Ref<detail::TaskHome>& home() const noexcept { return home_; }
  [[nodiscard]] detail::SchedulerCore* core() const noexcept { return core_; }
  /// Errors: std::invalid_argument, naming the call, when it was moved from.
  void check_valid(const char* call) const {
    if (!valid()) [[unlikely]]
      detail::refuse_moved_from(call);
  }
  template <class Callback>
  void check_post(const Callback& callback) const {
    static_assert(!detail::is_promise<std::invoke_result_t<std::decay_t<Callback>&>>,
                  "a coroutine outlives the callback that post() destroys: use post_task");
    static_assert(!detail::is_forkable<std::invoke_result_t<std::decay_t<Callback>&>>,
                  "nobody would run what the callback returns: use post_task");
    check_valid("Scheduler::post");
    detail::check_callback(callback, "Scheduler::post");
  }
  template <class Callback>
  void check_post_task(const Callback& callback) const {
    check_valid("Scheduler::post_task");
    detail::check_callback(callback, "Scheduler::post_task");
  }
  template <class Callback>
  using PromiseTask = detail::PromiseTask<std::decay_t<Callback>>;

  /// `options` are const, or about to go.
  template <class Callback, class Options>
  auto post_task_with(Callback&& callback, Options& options) const {
    check_post_task(callback);
    if (auto refusal = refused(options)) {
      return Promise<typename PromiseTask<Callback>::Result>::rejected_by_abort(std::move(refusal));
    }
    auto signal = signal_of(options);
    if (!signal) return post_unsignalled(std::forward<Callback>(callback), options);
    auto& task = make_task(true, options.label, std::forward<Callback>(callback));
    auto promise = promise_of(task);
    post_controlled(task, options, std::move(signal));
    return promise;
  }
  template <class Callback>
  auto post_unsignalled(Callback&& callback) const {
    auto& task = make_task(false, {}, std::forward<Callback>(callback));
    auto promise = promise_of(task);
    post_without_signal(task);
    return promise;
  }
  template <class Callback>
  auto post_unsignalled(Callback&& callback, const PostTaskOptions& options) const {
    auto& task = make_task(false, options.label, std::forward<Callback>(callback));
    auto promise = promise_of(task);
    post_without_signal(task, options);
    return promise;
  }
  template <class Callback>
  PromiseTask<Callback>& make_task(bool has_signal, const TaskLabel& label,
                                   Callback&& callback) const {
    detail::TaskHome* const home = home_.get();  // first: the callback may own this scheduler
    auto& task = *PromiseTask<Callback>::make(has_signal, label, std::forward<Callback>(callback));
    task.set_home(home);
    return task;
  }
  template <class Task>
  static auto promise_of(Task& task) noexcept {
    return detail::Access::make<Promise<typename Task::Result>>(
        detail::Ref<typename Task::State>::adopt(&task));
  }
  template <class Callback, class Options>
  bool post_with(Callback&& callback, Options& options) const {
    check_post(callback);
    if (refused(options)) return false;
    if (auto signal = signal_of(options)) {
      auto& task = make<detail::SignalledTask<std::decay_t<Callback>>>(
          options.label, std::forward<Callback>(callback));
      return post_controlled(task, options, std::move(signal));
    }
    return post_plain(make<detail::PlainTask<std::decay_t<Callback>>>(
                          options.label, std::forward<Callback>(callback)),
                      options);
  }
  template <class Task, class Callback>
  static Task& make(const TaskLabel& label, Callback&& callback) {
    if (label.empty()) return *detail::make_node<Task>(std::forward<Callback>(callback));
    return *detail::make_labelled_node<Task>(label, std::forward<Callback>(callback));
  }
  /// Checks the options; a reason when the task must be rejected at once (spec step 4).
  static Reason refused(const PostTaskOptions& options) {
    return options.priority || options.signal ? refused_by(options) : Reason();
  }
  static Reason refused_by(const PostTaskOptions& options);
  /// The reference that the task will have. It is taken before the callback moves, because the
  /// callback may own the options.   Precondition: the options were not refused.
  static detail::Ref<detail::SignalCore> signal_of(const PostTaskOptions& options) noexcept {
    if (!options.signal) return {};
    return detail::Ref<detail::SignalCore>::share(&detail::Access::core(*options.signal));
  }
  static detail::Ref<detail::SignalCore> signal_of(PostTaskOptions& options) noexcept {
    if (!options.signal) return {};
    return detail::Access::into_core(*std::move(options.signal));
  }
  bool post_plain(detail::SchedulerTask& task) const noexcept;
  bool post_plain(detail::SchedulerTask& task, const PostTaskOptions& options) const noexcept;
  void post_without_signal(detail::ControlledTask& task) const noexcept;
  void post_without_signal(detail::ControlledTask& task,
                           const PostTaskOptions& options) const noexcept;
  bool post_controlled(detail::ControlledTask& task, const PostTaskOptions& options,
                       detail::Ref<detail::SignalCore> signal) const;

  detail::Ref<detail::TaskHome> home_;
  detail::SchedulerCore* core_;
};

/// What `co_await resume_on(scheduler)` awaits: from here on the coroutine runs through that
/// scheduler, a bound one on its agent, a stealable one on any agent of its cluster. It goes on as
/// a continuation with the signals and the priority that it has; without any, as on a plain thread,
/// it is user-visible.
///
/// Spec:   contract YLD-1, YLD-3.   Thread: any.   Blocks: never.
/// Errors: of the `co_await`: the abort reason, where the coroutine goes on; InvalidStateError when
///         the loop is closed; std::bad_alloc. A close that drops the continuation destroys the
///         coroutine's frame.
/// Cost:   as yield(): without an abort source and with a fixed priority, no allocation.
[[nodiscard]] inline Yield resume_on(const Scheduler& scheduler) {
  detail::Access::check_valid(scheduler, "resume_on");
  return detail::Access::make<Yield>(detail::Access::home(scheduler),
                                     detail::Access::core(scheduler), detail::Hop());
}

}  // namespace HEIST_NAMESPACE
