// Plain tasks and microtasks that call a callable. Neither has a promise, and the tasks have no
// scheduling state.
#pragma once

#include <heist/detail/export.hpp>
#include <heist/detail/misuse.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/promise_state.hpp>
#include <heist/detail/promise_traits.hpp>
#include <heist/detail/report_error.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/task_source.hpp>
#include <heist/version.hpp>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// Counts a plain task that runs.
HEIST_EXPORT void count_plain_task(LoopCore& loop, TaskSource source) noexcept;

/// A plain task: a callable that runs with no scheduling state.
template <class Callback>
class PlainSourceTask final : public SchedulerTask {
 public:
  template <class F>
  PlainSourceTask(TaskSource source, F&& callback)
      : SchedulerTask(table, false), callback_(std::forward<F>(callback)), source_(source) {}

 private:
  static PlainSourceTask& of(LoopNode& node) noexcept {
    return static_cast<PlainSourceTask&>(static_cast<SchedulerTask&>(node));
  }
  static void run(LoopNode& node, LoopCore& loop) noexcept {
    count_plain_task(loop, of(node).source_);
    invoke_and_report(of(node).callback_, ErrorOrigin::task);
    destroy_node(of(node));
  }
  static void drop(LoopNode& node) noexcept { destroy_node(of(node)); }
  static constexpr LoopNodeOps table{LoopNodeKind::task, &run, &drop};

  Callback callback_;
  TaskSource source_;
};

/// Posts the task. If the loop is closed, drops the task and returns false.
HEIST_EXPORT bool queue_plain_task(LoopCore& loop, SchedulerTask& task) noexcept;
/// Errors: std::invalid_argument for a value that is no TaskSource.
HEIST_EXPORT void check_source(TaskSource source);

/// Implements queue_task() of EventLoop and Agent.
template <class Callback>
bool queue_task_on(LoopCore& loop, TaskSource source, Callback&& callback) {
  static_assert(!is_promise<std::invoke_result_t<std::decay_t<Callback>&>>,
                "a coroutine outlives the callback that queue_task() destroys: use post_task");
  check_callback(callback, "queue_task");
  check_source(source);
  return queue_plain_task(loop, *make_node<PlainSourceTask<std::decay_t<Callback>>>(
                                    source, std::forward<Callback>(callback)));
}

/// Binds a reaction to the running agent and queues it.   Errors: NotAllowedError off an agent.
HEIST_EXPORT void enqueue_microtask(Reaction& reaction);

/// A microtask that calls a callable.
template <class Callback>
class CallbackMicrotask final : public Reaction {
 public:
  template <class F>
  explicit CallbackMicrotask(F&& callback)
      : Reaction(table), callback_(std::forward<F>(callback)) {}

 private:
  static CallbackMicrotask& of(LoopNode& node) noexcept {
    return static_cast<CallbackMicrotask&>(static_cast<Reaction&>(node));
  }
  static void run(LoopNode& node, LoopCore& /*loop*/) noexcept {
    invoke_and_report(of(node).callback_, ErrorOrigin::microtask);
    destroy_node(of(node));
  }
  static void drop(LoopNode& node) noexcept { destroy_node(of(node)); }
  static constexpr LoopNodeOps table{LoopNodeKind::microtask, &run, &drop};

  Callback callback_;
};

}  // namespace HEIST_NAMESPACE::detail
