// TaskHome: where tasks belong, which is an event loop or a cluster of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/detail/promise_state.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/scheduling_state.hpp>
#include <heist/detail/sync.hpp>
#include <heist/event_loop.hpp>

#include "../concurrent/inbox.hpp"
#include "aborted_tasks.hpp"
#include "close_terms.hpp"
#include "limits_to_arm.hpp"
#include "loop_clock.hpp"
#include "sampling.hpp"
#include "scheduler_core.hpp"
#include "signal_leftovers.hpp"
#include "waiting_tasks.hpp"

namespace HEIST_NAMESPACE::detail {

/// What posters, settlers and signals need of an event loop (LoopCore) and of a cluster
/// (ClusterCore). Schedulers, tasks, promises' reactions and signals' ports name their home, and
/// need not know which of the two it is.
///
/// Roles   owner: a loop's agent, a cluster's keeper.  poster, settler, aborter, closer: any
///         thread.
/// I1      Every node here that has left the inbox is the owner's, until it is runnable.
/// I2      Whoever holds a task disposes of it: the poster until the post has succeeded, then the
///         home. Aborters only claim tasks, and tell the home (SignalPort::send_reap).
/// I3      A poster that is no agent of the home has a share of it, which does not go with what it
///         posts, until the post has returned (keep_while_posting()).
/// Lifetime  counted; schedulers, signals and promises may keep it long after its close.
/// Proof   of I3: stress/model/models/lifetime.cpp, in_place.cpp, descriptor.cpp
class TaskHome {
 public:
  TaskHome(const TaskHome&) = delete;
  TaskHome& operator=(const TaskHome&) = delete;

  // What any thread may call.

  /// Posts a task. Returns false when the home is closed; the task is still the caller's then.
  [[nodiscard]] virtual bool post(SchedulerTask& task) noexcept = 0;
  /// Does the same, but drops the task when the home is closed.
  virtual bool post_or_drop(SchedulerTask& task) noexcept = 0;
  /// Does the same as post() for a signal's time limit, which does not stand in line with the rest
  /// of what is posted. `below` is what try_take_back() needs.
  [[nodiscard]] virtual bool post_limit(SchedulerTask& limit, Inbox::Below& below) noexcept = 0;
  /// Takes a limit back that has not arrived. Returns true when it is the caller's again, as if it
  /// had not been posted.
  [[nodiscard]] bool try_take_back(SchedulerTask& limit, Inbox::Below below) noexcept {
    return limits_to_arm_.try_take_back(limit, below);
  }
  /// Posts a reaction whose promise has settled. Returns false when the home is closed; the
  /// reaction is still the caller's then.
  [[nodiscard]] virtual bool deliver(Reaction& reaction) noexcept = 0;
  /// Posts a message to the owner, or drops it when this home is closed.
  virtual void send(LoopNode& message) noexcept = 0;
  /// Does the same for a message that only clears something away, and runs no users' code. In a
  /// cluster it wakes nobody until many such messages have come.
  virtual void send_to_clear(LoopNode& message) noexcept { send(message); }
  /// Posts the message of an abort. However many there are, each pick looks at only some of them.
  void send_abort(LoopNode& message) noexcept;
  /// Called when the priority of a port's signal has changed: moves the port's queues (PRI-3).
  virtual void change_priority(SignalPort& port) noexcept = 0;
  /// Asks the owner to read the priorities of all its runnable queues again (D1 of PortExtras). A
  /// cluster does nothing, because it has no queues that only its owner moves.
  virtual void request_recheck() noexcept {}
  /// Called before a task is posted that takes its priority from a signal: makes the queue that
  /// moves with the signal, if it is not there yet. In a cluster it gives the task a place in it.
  /// Errors: std::bad_alloc.
  virtual void reserve_place(ControlledTask& task) = 0;
  /// Does the same for a reaction that goes on with this state.   Errors: std::bad_alloc.
  virtual void reserve_place(Reaction& /*reaction*/, const SchedulingState& /*state*/) {}
  /// These two suspend and resume a scheduler, as far as that is not the owner's part: no pick that
  /// begins after suspend() has returned starts one of its tasks, until resume(). Then the caller
  /// sends a message to the owner, with the number that is returned here. If several threads
  /// suspend and resume, the last change decides.
  virtual std::uint64_t suspend(SchedulerCore& /*scheduler*/) noexcept { return 0; }
  virtual std::uint64_t resume(SchedulerCore& /*scheduler*/) noexcept { return 0; }
  /// Returns the home as a loop, or null when it is a cluster.
  [[nodiscard]] virtual LoopCore* as_loop() noexcept = 0;

  /// Refuses tasks from other threads from now on. Messages still come.
  void refuse_tasks() noexcept {
    refuses_tasks_.store(true, sync::relaxed);  // relaxed: posts that overlap may fall either way.
  }
  [[nodiscard]] bool refuses_tasks() const noexcept {
    return refuses_tasks_.load(sync::relaxed);  // relaxed: as above.
  }
  /// Agents that wait for work here do not sleep until end_hot_phase() has been called as often as
  /// begin_hot_phase().
  void begin_hot_phase() noexcept {
    hot_phases_.fetch_add(1, sync::relaxed);  // relaxed: seen in time.
  }
  void end_hot_phase() noexcept { hot_phases_.fetch_sub(1, sync::relaxed); }  // relaxed: as above.
  [[nodiscard]] bool is_hot() const noexcept {
    return hot_phases_.load(sync::relaxed) != 0;  // relaxed: as above.
  }
  [[nodiscard]] LoopTime& time() noexcept { return time_; }
  [[nodiscard]] const LoopTime& time() const noexcept { return time_; }
  [[nodiscard]] Sampling& sampling() noexcept { return sampling_; }
  [[nodiscard]] const Sampling& sampling() const noexcept { return sampling_; }
  /// To be called before a task is posted, and before it registers with a signal: from then on
  /// another thread may look whether it is sampled. A delayed task waits in no queue yet.
  void note_posted(SchedulerTask& task) noexcept {
    if (!task.is_delayed) sampling_.note_runnable(task);
  }
  /// To be called before a post: makes the task runnable only when the delay, counted from now, is
  /// over.
  void set_delay(SchedulerTask& task, Delay delay) const noexcept {
    if (delay.is_zero()) return;
    const auto now = time_.now();
    task.is_delayed = true;
    task.posted_at = now.count();
    task.key = LoopTime::end_of(delay, now);
  }
  /// Does the same for a signal's time limit. A limit of no length is over at once, and stands
  /// behind those that ended before.
  void set_time_limit(SchedulerTask& limit, Delay delay) const noexcept;
  [[nodiscard]] SchedulerCore& first_scheduler() noexcept { return first_scheduler_; }
  /// Stands for a scheduler in plain tasks, which have none (timers, timeouts, other task sources).
  [[nodiscard]] SchedulerCore& plain_source() noexcept { return plain_source_; }
  [[nodiscard]] CloseTerms& close_terms() noexcept { return close_terms_; }
  [[nodiscard]] bool is_closed() const noexcept { return inbox_.is_closed(); }
  /// Whether there are more than `references` references to this home.
  [[nodiscard]] bool is_shared_beyond(std::uint32_t references) const noexcept {
    return shares_.is_more_than(references);
  }
  /// Whether something that was posted before this call is not taken yet.
  [[nodiscard]] bool has_posts_by_now() const noexcept {
    return inbox_.has_posts_by_now() || limits_to_arm_.has_posts_by_now();
  }

  /// Inbox::word() of what is posted to this home.
  [[nodiscard]] const sync::atomic<std::uintptr_t>& inbox_word() const noexcept {
    return inbox_.word();
  }

  // What only the owner calls.

  /// Whether other threads have posted something.
  [[nodiscard]] bool has_posts() const noexcept { return inbox_.has_posts(); }
  /// The tasks that wait for their time, or for the resume of their scheduler.
  [[nodiscard]] WaitingTasks& waiting() noexcept { return *waiting_; }
  [[nodiscard]] AbortedTasks& aborted() noexcept { return aborted_; }
  [[nodiscard]] LimitsToArm& limits_to_arm() noexcept { return limits_to_arm_; }
  /// Drops a message's reference to its signal later, because that may run users' code.
  void release_later(SignalLeftovers& of) noexcept {
    aborted_.release_later(of);
    has_leftovers_ = true;
  }
  /// Called when the message of a priority change has come (SignalPort). A cluster gets none: its
  /// queues move at once.
  virtual void take_priority_change(SignalPort& /*port*/) noexcept {}
  /// Called in a task of this loop after an outermost callback, which nothing else of the task
  /// encloses: runs the microtasks.
  virtual void end_callback() noexcept {}
  /// Whether something is left for the next pick or own post to see to: nodes that were left in the
  /// inbox, time limits to arm, signals to release, or a look of a task that holds (UrgentLook).
  /// Cost: one load, because each of them asks. That is why whoever changes one of these has to
  /// call note_leftovers().
  [[nodiscard]] bool has_leftovers() const noexcept { return has_leftovers_; }
  /// Whether a time limit is anywhere here.
  [[nodiscard]] bool may_have_limits() const noexcept {
    return waiting_->delays().has_limits() || !waiting_->limits().empty() ||
           !limits_to_arm_.is_idle();
  }
  /// Called when a scheduler was resumed: makes its tasks runnable that were held back. In a
  /// cluster resume() has done that already.
  virtual void release_held(SchedulerCore& /*scheduler*/) noexcept {}

  // What an agent calls to clear away aborted tasks.

  /// Does what is left to do for an aborted task of this home, apart from the aborter's share.
  /// Returns whether the task's callback was still there.
  [[nodiscard]] virtual bool reap(ControlledTask& task) noexcept = 0;

  friend void retain(TaskHome& home) noexcept;
  friend void release(TaskHome& home) noexcept;

 protected:
  /// Errors: std::bad_alloc.
  explicit TaskHome(const EventLoopOptions& options);
  virtual ~TaskHome();

  [[nodiscard]] Inbox& inbox() noexcept { return inbox_; }
  /// Messages of aborts. "Asleep" means here that the owner waits for a notice in its own inbox.
  [[nodiscard]] Inbox& abort_messages() noexcept { return abort_messages_; }
  /// Sets the derived class's object, or null when only the memory of this home is left.
  void set_waiting(WaitingTasks* waiting) noexcept { waiting_ = waiting; }
  /// Called by the owner when messages of aborts are there: takes `most` of them.
  void take_aborts(unsigned most) noexcept { aborted_.take_messages(abort_messages_, *this, most); }
  void close_aborts() noexcept { aborted_.close_messages(abort_messages_, *this); }

  /// Says anew whether something is left, but for looks, of which only the loop knows.
  void note_leftovers_but_looks() noexcept {
    has_leftovers_ = limits_to_arm_.is_told() || inbox_.has_left() || aborted_.has_released();
  }
  /// Makes has_leftovers() true until it is noted anew.
  void leave_look() noexcept { has_leftovers_ = true; }

  /// Called by any thread: posts a limit to the owner. `tell(LoopNode&)` has to post the notice of
  /// that. Returns false when the home is closed.
  template <class Tell>
  [[nodiscard]] bool send_limit(SchedulerTask& limit, Inbox::Below& below, Tell&& tell) noexcept {
    const auto result = limits_to_arm_.post(limit, below);
    // A home that closes meanwhile finds the limit without a notice.
    if (result == Inbox::PostResult::wake) tell(limits_notice_);
    return result != Inbox::PostResult::closed;
  }

 private:
  /// Tells the owner that there are messages of aborts. It is in the inbox only once, because only
  /// the message that finds the inbox of aborts "asleep" sends it.
  struct AbortNotice : LoopNode {
    AbortNotice() noexcept;
    static void take(LoopNode& node, TaskHome& home) noexcept;
    static void ignore(LoopNode& node) noexcept;
    static const MessageOps table;
  };
  /// Tells the owner that there are time limits to arm, in the same way.
  struct LimitsNotice : LoopNode {
    LimitsNotice() noexcept;
    static void take(LoopNode& node, TaskHome& home) noexcept;
    static void ignore(LoopNode& node) noexcept;
    static const MessageOps table;
  };

  // Posters write these.
  alignas(64) Inbox inbox_;
  LimitsToArm limits_to_arm_;
  Inbox abort_messages_;
  sync::atomic<bool> refuses_tasks_{false};  ///< in a drain: those that other threads post

  // These are written rarely.
  alignas(64) RefCount shares_{1};
  LoopTime time_;
  Sampling sampling_;
  WaitingTasks* waiting_ = nullptr;
  SchedulerCore first_scheduler_{*this};
  SchedulerCore plain_source_{*this};
  sync::atomic<std::uint32_t> hot_phases_{0};
  CloseTerms close_terms_;

  // The owner writes these.
  alignas(64) AbortedTasks aborted_;
  bool has_leftovers_ = false;  ///< for loops only; a keeper looks at each of the three

  AbortNotice abort_notice_;
  LimitsNotice limits_notice_;
};

/// Returns the loop that the calling thread drives, as a home, or null if there is none.
[[nodiscard]] TaskHome* driven_home() noexcept;

/// For a call that posts to a home of which its caller may have no share: a share, to be kept until
/// the post has returned. What is posted may run before that, and whoever waits for it may be the
/// last one to know the home. An agent of the home needs no share, and gets none.
[[nodiscard]] Ref<TaskHome> keep_while_posting(TaskHome& home) noexcept;

/// Called by whoever holds a task that will never start: destroys its callback, leaves its signal,
/// and releases the agent's share. Returns whether the callback was still there.
bool dispose(ControlledTask& task) noexcept;
/// Does the same without the share, for callers that do not hold the task. Returns false when it
/// was done before.
bool discard_contents(ControlledTask& task) noexcept;

}  // namespace HEIST_NAMESPACE::detail
