// EventLoop: runs the tasks of its schedulers on the thread that drives it; how it is closed, and
// queue_microtask.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <heist/delay.hpp>
#include <heist/detail/durations.hpp>
#include <heist/detail/export.hpp>
#include <heist/detail/source_task.hpp>
#include <heist/metrics.hpp>
#include <heist/priority.hpp>
#include <heist/scheduler.hpp>
#include <heist/task_source.hpp>
#include <heist/version.hpp>
#include <optional>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE {

/// What happens to the tasks that have not started. Tasks that other threads post from now on are
/// refused in every mode; while draining, running tasks may go on posting to their own loop.
///
/// `drain` runs what is runnable until nothing is; delayed tasks reject with AbortError, unless
/// `wait_for_delayed` is set. At the deadline the rest rejects as by an abort. On an agent the
/// promise of the running task does so at once, and what is queued behind it as soon as its
/// callback returns. A loop that is closed by its own thread has nobody to look at the deadline
/// while a task runs: that task settles as it ends.
///
/// Of several closes the strictest counts, for all: an earlier deadline, or abort, hurries a close
/// that is under way, and wakes it. Asking for less changes nothing.
struct CloseMode {
  /// Whether tasks that have not started run, or reject.
  enum class Kind : std::uint8_t { drain, abort };

  /// A close with this mode; drain_until() drains until a deadline.
  [[nodiscard]] static CloseMode drain() noexcept { return {Kind::drain, {}, false}; }
  [[nodiscard]] static CloseMode abort() noexcept { return {Kind::abort, {}, false}; }
  [[nodiscard]] static CloseMode drain_until(
      std::chrono::steady_clock::time_point deadline) noexcept {
    return {Kind::drain, deadline, false};
  }

  Kind kind = Kind::drain;  ///< whether tasks that have not started run, or reject
  std::optional<std::chrono::steady_clock::time_point> deadline;  ///< until when it may drain
  bool wait_for_delayed = false;  ///< whether a drain runs delayed tasks, too, once they are due
};

/// What has become, by the return of a close(), of the tasks that had not ended when the first
/// close() was called, and of those that they have posted since. Each counts once. A task that a
/// signal aborted does not count any more once it is cleared away. A later close() returns what is
/// known by then.
struct CloseReport {
  std::uint64_t ran = 0;            ///< tasks that ended
  std::uint64_t aborted = 0;        ///< tasks that the close dropped
  std::uint64_t not_started = 0;    ///< tasks that will never start: they stand behind one that
                                    ///< still runs, and are dropped when it returns
  std::uint64_t still_running = 0;  ///< tasks whose callback, or tree of calls, had not ended

  friend bool operator==(const CloseReport&, const CloseReport&) = default;
};

/// Which clock a loop's delays follow.
enum class LoopClock : std::uint8_t {
  steady,        ///< std::chrono::steady_clock
  virtual_time,  ///< only advance() moves it; deterministic on one thread
};

/// How a loop tells the time and waits, and how it departs from strict priorities.
struct EventLoopOptions {
  /// Which clock its delays follow.
  LoopClock clock = LoopClock::steady;
  /// Resolution of delays; they are rounded up to it. The thread of an Agent or of a cluster asks
  /// the system to end its sleeps as exactly (PR_SET_TIMERSLACK; by default they end within 50 us).
  /// Threads that its tasks start inherit that. A thread that drives an EventLoop has to do so
  /// itself.
  std::chrono::nanoseconds tick = std::chrono::milliseconds(1);
  /// How long run() looks for work before it sleeps. Where work is rare it sleeps at once, that is,
  /// if its last wait began more than ten times `spin` before. Zero always sleeps at once; with one
  /// CPU it is always zero.
  std::chrono::nanoseconds spin = std::chrono::microseconds(20);
  /// For how long continuations may go before the waiting tasks of their own priority. After that
  /// one such task is picked, and the time counts anew (contract YLD-6); each agent of a cluster
  /// counts for itself. With zero they do so for ever, as the specification has it, so that a
  /// coroutine which yields without end starves the tasks of its priority. A cap helps when it is
  /// shorter than the time between two such tasks.   Cost: each pick reads the clock.
  std::chrono::nanoseconds continuation_cap = {};
  /// For each priority, how long its tasks may wait. A task that has waited for longer is picked
  /// next, whatever its priority (contract WAIT). By default no priority has a maximum.
  MaxWait max_wait = {};
  /// With 16, each task that becomes runnable is sampled with a chance of 1 in 16: it is measured
  /// how long it waits, and with a chance of 1 in 4 also how long it runs (LevelMetrics). With 1
  /// both are measured of each task, as long as no more than 128 of its level wait. With 0 none is.
  /// Other values have to be powers of two. set_sampling() changes it.
  std::uint32_t sample_every = 16;
};

/// How much one turn of a loop does at most, see EventLoop::poll().
struct TurnLimits {
  /// After so many tasks no further one begins.
  std::size_t tasks = 64;
  /// After this time no further task begins.
  std::chrono::nanoseconds time = std::chrono::milliseconds(1);
};

/// What a loop has done so far; exact on its own thread, approximate elsewhere.
struct EventLoopStats {
  /// Tasks, and continuations but those that go on because a promise has settled.
  std::uint64_t tasks_run = 0;
  std::uint64_t wakeups_sent = 0;      ///< system calls made to wake it
  std::uint64_t sleeps = 0;            ///< how often its agent went to sleep
  SourceCounts source_tasks_run = {};  ///< of tasks_run, those of each TaskSource
};

/// An event loop to embed: whoever calls run(), run_one(), poll(), run_until_idle() or advance() is
/// its agent during the call. Agent (heist/agent.hpp) is a loop with a thread of its own.
///
/// Spec:     [html#event-loops], [sched#sec-patches-html].
/// Thread:   one thread at a time drives it; schedulers of it may be used from any thread, stop()
///           too.
/// Lifetime: the destructor closes with abort. It must not run inside a task of this loop.
class HEIST_EXPORT EventLoop {
 public:
  /// Errors: std::bad_alloc; std::invalid_argument for a tick that is not positive, a negative spin
  /// or cap, a maximum wait below a millisecond, or when one of them is above an hour.
  explicit EventLoop(const EventLoopOptions& options = {});
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  ~EventLoop();

  /// The loop's first scheduler.
  [[nodiscard]] Scheduler scheduler() const noexcept;
  /// One more scheduler with the same loop and order; its memory lives as long as the loop.
  ///
  /// Thread: the driving thread.   Errors: std::bad_alloc.
  [[nodiscard]] Scheduler create_scheduler();

  /// Queues `callback()` as a plain task of a source: beside user-visible tasks, by age, and with
  /// no scheduling state. Exceptions go to the error hook. False: refused, because the loop is
  /// closed.
  ///
  /// Spec:   [html#queue-a-task].   Thread: any, lock-free.   Blocks: never.
  /// Errors: std::bad_alloc; std::invalid_argument for a value that is no TaskSource, and for a
  /// callback that is null or empty.
  /// Cost:   one allocation, from a recycled pool.
  template <class Callback>
    requires std::invocable<std::decay_t<Callback>&>
  bool queue_task(TaskSource source, Callback&& callback) const {
    return detail::queue_task_on(*core_, source, std::forward<Callback>(callback));
  }

  /// Runs tasks until stop() or close; sleeps while there is none.   Thread: the driver.   Blocks:
  /// yes.
  void run();
  /// Waits for one task and runs it; false when stopped or closed instead.   Blocks: yes.
  bool run_one();
  /// Runs what is runnable now and returns how many tasks ran; never waits. A task that posts for
  /// ever keeps it busy only for the tasks present at the start.
  std::size_t poll();
  /// The same within limits, for a foreign loop that has other things to do. If something is left,
  /// the descriptor of wakeup_fd() is readable afterwards.
  ///
  /// Cost: each task reads the clock.
  std::size_t poll(const TurnLimits& limits);
  /// Runs until nothing is runnable; returns how many tasks ran.   Blocks: never sleeps.
  std::size_t run_until_idle();

  /// Makes run() or run_one() return after the current task; when neither is under way, the next
  /// one returns at once.   Thread: any.
  void stop() noexcept;

  /// Moves the virtual clock: every expiry on the way is run in order, each followed by
  /// run_until_idle().
  ///
  /// Errors: NotAllowedError on a steady clock, or from within a task of this loop;
  /// std::invalid_argument for a negative duration.
  void advance(std::chrono::nanoseconds duration);
  /// Moves the virtual clock as if the running task took that long: what expires meanwhile runs
  /// after it.
  ///
  /// Thread: the driver, also within a task.   Errors: NotAllowedError on a steady clock;
  /// std::invalid_argument for a negative duration.
  void spend(std::chrono::nanoseconds duration);

  /// Time on the loop's clock since it was made.   Thread: any.
  [[nodiscard]] std::chrono::nanoseconds now() const noexcept;

  /// A descriptor that is readable while the loop has something to do: for foreign loops, which
  /// then call poll(). poll() arms it again. Once the loop is closed, no delay makes it readable
  /// any more. The loop's destruction closes it.
  ///
  /// Errors: std::system_error.   Cost: a few system calls, the first time.
  [[nodiscard]] int wakeup_fd();

  /// Ends the loop; see CloseMode. Later calls return the same report.
  ///
  /// While the driver is in this call, further calls (from any thread, or from within a task) may
  /// be stricter. They hurry the first one, and return what is known by then.
  ///
  /// Thread: the driver.   Blocks: while tasks run; never when it hurries another call.
  /// Errors: NotAllowedError from within a task, or while another thread drives the loop, unless
  ///         that is in a close.
  CloseReport close(const CloseMode& mode);

  /// Number of tasks queued or delayed here.   Thread: the driver.
  [[nodiscard]] std::size_t pending();
  [[nodiscard]] EventLoopStats stats() const noexcept;
  /// What the loop has done so far, what waits here, and for how long.
  ///
  /// Thread: any.   Blocks: never.   Errors: std::bad_alloc.
  /// Cost:   some microseconds.
  [[nodiscard]] LoopMetrics metrics() const;
  /// Changes from now on how many tasks are measured: see EventLoopOptions::sample_every.
  ///
  /// Thread: any.   Errors: std::invalid_argument for a number that is neither zero nor a power of
  ///         two.
  void set_sampling(std::uint32_t every);

 private:
  friend struct detail::Access;
  [[nodiscard]] detail::LoopCore& core() const noexcept { return *core_; }

  detail::Ref<detail::LoopCore> core_;
};

/// Runs `callback()` at the running agent's next microtask checkpoint, with the current scheduling
/// state. Exceptions go to the error hook.
///
/// Spec:   [html#microtask-queuing].   Thread: an agent.   Blocks: never.   Cost: one allocation.
/// Errors: NotAllowedError off an agent; std::bad_alloc; std::invalid_argument for a callback that
///         is null or empty.
template <class Callback>
  requires std::invocable<std::decay_t<Callback>&>
void queue_microtask(Callback&& callback) {
  static_assert(!detail::is_promise<std::invoke_result_t<std::decay_t<Callback>&>>,
                "a coroutine outlives the callback that queue_microtask destroys: call it instead");
  detail::check_callback(callback, "queue_microtask");
  auto* microtask = detail::make_node<detail::CallbackMicrotask<std::decay_t<Callback>>>(
      std::forward<Callback>(callback));
  try {
    detail::enqueue_microtask(*microtask);
  } catch (...) {
    detail::destroy_node(*microtask);
    throw;
  }
}

}  // namespace HEIST_NAMESPACE
