// CooperativeScheduler: tasks that expire, worked on in slices of time; nothing starves.
#pragma once

#include <cstdint>
#include <functional>
#include <heist/cooperative_callback.hpp>
#include <heist/cooperative_host.hpp>
#include <heist/detail/export.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/slice_clock.hpp>
#include <heist/scheduler.hpp>
#include <heist/version.hpp>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE {

/// How urgent a cooperative task is. Its level decides only when it expires, counted from its
/// start; what expires first runs first, so that nothing waits for ever.
///
/// It has 32 bits because it is an argument of the library (detail::TaskOutcome says why).
///
/// Spec: contract COOP-1.
enum class CooperativePriority : std::uint32_t {
  immediate = 1,      ///< expired at once: it is late from the beginning
  user_blocking = 2,  ///< 250 ms
  normal = 3,         ///< 5 s
  low = 4,            ///< 10 s
  idle = 5,           ///< 2^30 - 1 ms, some twelve days
};

/// Names a task for cancel_callback(). Dropping it changes nothing.
///
/// Thread: any; one handle is used by one thread at a time.
class CooperativeTask {
 public:
  /// Names no task.
  CooperativeTask() noexcept = default;
  /// False if it names no task, which is also so when a closed loop has refused it.
  explicit operator bool() const noexcept { return static_cast<bool>(node_); }
  friend bool operator==(const CooperativeTask&, const CooperativeTask&) noexcept = default;

 private:
  friend struct detail::Access;
  explicit CooperativeTask(detail::Ref<detail::CooperativeTaskNode> node) noexcept
      : node_(std::move(node)) {}
  [[nodiscard]] detail::CooperativeTaskNode* node() const noexcept { return node_.get(); }

  detail::Ref<detail::CooperativeTaskNode> node_;
};

/// Options of CooperativeScheduler::schedule_callback.
struct CooperativeOptions {
  /// After this time the task begins to wait, and its time to expiry to count. A negative delay is
  /// none.
  Milliseconds delay{};
};

/// Schedules tasks on an event loop so that none waits for ever, and the loop stays free for
/// others: each task expires some time after its start, by its priority; the one that expires first
/// runs first. Work is done in slices (5 ms): when one is over the loop gets on with its other
/// tasks before the next one. A task that takes long asks should_yield(), and returns what is left
/// of it as a callback.
///
/// A cheap handle; copies are of the same scheduler. Its tasks run whether or not a handle is left.
/// It lives on the loop as plain tasks: beside user-visible ones.
///
/// Spec:   contract COOP.
/// Thread: schedule_callback, cancel_callback: any. All else: the loop's, from tasks and outside of
///         them. With a CooperativeHost everything is for the host's thread.
/// Errors: a callback's exception discards its task and goes to the error hook; other tasks are not
///         touched. On a CooperativeHost it comes out of perform_work(), which has asked for the
///         next call.
class HEIST_EXPORT CooperativeScheduler {
 public:
  /// Works on the scheduler's loop, beside its tasks.
  ///
  /// Errors: std::bad_alloc; NotAllowedError for a stealable scheduler (name an agent's), and for
  ///         one whose ceiling is below user-visible (SEC-1).
  explicit CooperativeScheduler(const Scheduler& on);
  /// Works on any other loop, which must outlive the last handle.   Errors: std::bad_alloc.
  explicit CooperativeScheduler(CooperativeHost& host);
  CooperativeScheduler(const CooperativeScheduler&) = default;  // moving is copying
  CooperativeScheduler& operator=(const CooperativeScheduler&) = default;
  ~CooperativeScheduler() = default;

  /// Schedules a call of `callback`; see CooperativeCallback for what it may be and return. What it
  /// returns goes on in the next slice, in the place the task has. When the loop is closed the
  /// callback is dropped, and the result is false.
  ///
  /// Spec:   contract COOP-2.   Thread: any; threads in the order of their calls.   Blocks: never.
  /// Errors: std::bad_alloc; std::invalid_argument for a value that is no CooperativePriority, and
  ///         for a callback that is empty.
  /// Cost:   one allocation, from a recycled pool. O(1) without a delay; with one amortised
  ///         O(log n) for n delayed tasks.
  CooperativeTask schedule_callback(CooperativePriority priority, CooperativeCallback callback,
                                    const CooperativeOptions& options = {}) const;

  /// Destroys the task's callback, or what it returned to go on with, without calling it. Nothing
  /// happens to a task that is done. If the callback runs at the moment, a call on the loop's
  /// thread does nothing either; a call on another thread drops what the callback returns.
  ///
  /// Thread: any. From another thread it counts from the next task on, and the loop destroys the
  ///         callback.
  /// Blocks: never.   Errors: std::invalid_argument for a task of another scheduler.   Cost: O(1).
  void cancel_callback(const CooperativeTask& task) const;

  /// Whether the slice is over, exactly by the host's clock. A callback that runs long asks, and
  /// then returns the rest of its work.
  ///
  /// Cost: one reading of the processor's counter, or of the clock where that does not help
  ///         (SliceClock).
  [[nodiscard]] bool should_yield() const noexcept { return clock_->is_over(); }
  /// Ends the slice at once, as the loop has something to do that users see.
  void request_paint() const noexcept { clock_->end_early(); }
  /// Sets the length of slices to a whole number of milliseconds, so that about so many fit into a
  /// second; zero restores the 5 ms.
  ///
  /// Errors: std::invalid_argument below zero and above 125, nothing changed.
  void force_frame_rate(double frames_per_second) const;
  /// Sets the length of slices.   Errors: std::invalid_argument for what is not positive, nothing
  /// changed.
  void set_frame_interval(Milliseconds interval) const;

  /// The level of the task that runs, or that which run_with_priority() and its like have set;
  /// `normal` outside of both.
  [[nodiscard]] CooperativePriority current_priority_level() const noexcept;
  /// Calls `body()` at this level, which no task inherits. What is no priority counts as `normal`.
  template <class Body>
  decltype(auto) run_with_priority(CooperativePriority priority, Body&& body) const {
    detail::check_callback(body, "CooperativeScheduler::run_with_priority");
    const LevelScope scope(*this, level_or_normal(priority));
    return std::invoke(std::forward<Body>(body));
  }
  /// The same at `normal`, unless the level is below that already.
  template <class Body>
  decltype(auto) next(Body&& body) const {
    detail::check_callback(body, "CooperativeScheduler::next");
    const LevelScope scope(*this, next_level());
    return std::invoke(std::forward<Body>(body));
  }
  /// A callable that calls `callback` at the level of this moment.   Lifetime: it is a handle of
  /// the scheduler.
  template <class Callback>
  [[nodiscard]] auto wrap_callback(Callback&& callback) const {
    detail::check_callback(callback, "CooperativeScheduler::wrap_callback");
    return [scheduler = *this, level = current_priority_level(),
            callback = std::forward<Callback>(callback)]<class... Args>(
               Args&&... args) mutable -> decltype(auto) {
      const LevelScope scope(scheduler, level);
      return std::invoke(callback, std::forward<Args>(args)...);
    };
  }

  /// The time on the host's clock.   Thread: any, on an event loop.
  [[nodiscard]] Milliseconds now() const noexcept;

  /// Ends the scheduler: drops what it has not called, and refuses what comes. (What comes from
  /// another thread is accepted, and dropped soon.) A callback that runs is not interrupted. An
  /// event loop does this when it closes. A CooperativeHost has to do it before it is destroyed, as
  /// callbacks that hold a handle of the scheduler would keep everything alive.
  ///
  /// Errors: NotAllowedError on another thread than the loop's, and outside of what an event loop
  ///         runs.
  void close() const;

  // What a CooperativeHost calls.

  /// Runs tasks until the slice is over. To be called when the message that was posted has come.
  ///
  /// Errors: what a callback throws; NotAllowedError from within a callback, and on an event loop,
  ///         which does it itself.
  void perform_work() const;
  /// Looks for delayed tasks. To be called when the timeout's time is over; it does nothing on an
  /// event loop.
  void expire_timeout() const noexcept;

  friend bool operator==(const CooperativeScheduler& a, const CooperativeScheduler& b) noexcept {
    return a.core_ == b.core_;
  }

 private:
  class LevelScope {
   public:
    LevelScope(const CooperativeScheduler& scheduler, CooperativePriority level) noexcept
        : scheduler_(scheduler), before_(scheduler.exchange_level(level)) {}
    LevelScope(const LevelScope&) = delete;
    LevelScope& operator=(const LevelScope&) = delete;
    ~LevelScope() { scheduler_.exchange_level(before_); }

   private:
    const CooperativeScheduler& scheduler_;
    CooperativePriority before_;
  };

  CooperativePriority exchange_level(CooperativePriority level) const noexcept;
  [[nodiscard]] static CooperativePriority level_or_normal(CooperativePriority priority) noexcept;
  [[nodiscard]] CooperativePriority next_level() const noexcept;

  detail::Ref<detail::CooperativeCore> core_;
  detail::SliceClock* clock_;  ///< the core's
};

}  // namespace HEIST_NAMESPACE
