// TaskSource: where tasks come from that no Scheduler posts, and how they are queued.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <heist/error.hpp>
#include <heist/detail/misuse.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/promise_handle.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <type_traits>
#include <utility>

namespace heist {

/// Where a plain task comes from. All sources stand beside user-visible tasks, in one order by age:
/// below user-visible continuations and everything user-blocking, above everything background. Only
/// AbortSignal::timeout comes before everything else (DLY-6).
///
/// Spec: [html#task-source], [sched#sec-patches-html].
enum class TaskSource : std::uint8_t {
  timer,    ///< set_timeout, AbortSignal::timeout
  io,       ///< completions of input and output
  message,  ///< what other threads or processes send
  user,     ///< input of a user
};
inline constexpr std::size_t task_source_count = 4;

/// How many plain tasks of each source a loop has run; index by the source's value.
using SourceCounts = std::array<std::uint64_t, task_source_count>;

/// For the library: counts a plain task that runs.
void count_plain_task(LoopCore& loop, TaskSource source) noexcept;

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

/// For the library: hands it over, or drops it. False: the loop is closed.
bool queue_plain_task(LoopCore& loop, SchedulerTask& task) noexcept;
/// Errors: std::invalid_argument for a value that is no TaskSource.
void check_source(TaskSource source);

/// queue_task of EventLoop and Agent.
template <class Callback>
bool queue_task_on(LoopCore& loop, TaskSource source, Callback&& callback) {
  static_assert(!is_promise<std::invoke_result_t<std::decay_t<Callback>&>>,
                "a coroutine outlives the callback that queue_task() destroys: use post_task");
  check_callback(callback, "queue_task");
  check_source(source);
  return queue_plain_task(loop, *make_node<PlainSourceTask<std::decay_t<Callback>>>(
                                    source, std::forward<Callback>(callback)));
}

}  // namespace heist
