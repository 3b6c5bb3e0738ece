// LoopCore: one event loop. What any thread may touch, and what only its agent may.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <heist/close.hpp>
#include <heist/event_loop.hpp>
#include <heist/promise_state.hpp>
#include <heist/ref.hpp>
#include <heist/scheduler_task.hpp>
#include <heist/scheduling_state.hpp>
#include <heist/sync.hpp>
#include <heist/task_source.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "../concurrent/inbox.hpp"
#include "../os/parker.hpp"
#include "agent_activity.hpp"
#include "agent_role.hpp"
#include "agent_state.hpp"
#include "close_terms.hpp"
#include "drain_watch.hpp"
#include "loop_clock.hpp"
#include "scheduler_core.hpp"

namespace heist {

/// The loop the calling thread drives; current_loop() for code that sees this header.
extern thread_local constinit LoopCore* loop_of_this_thread;

/// The tasks that a loop has begun, and which of them has not ended.
struct TasksBegun {
  std::uint64_t count = 0;
  Running running;

  [[nodiscard]] std::uint64_t ended() const noexcept {
    return count - (running.is_counted ? 1 : 0);
  }
};

/// What has become of a loop's tasks so far.
struct TaskTally {
  std::uint64_t begun = 0;
  std::uint64_t dropped = 0;      ///< by a close
  std::uint64_t not_started = 0;  ///< still there; aborted ones, too, until they are cleared away
  Running running;
};

/// One event loop.
///
/// Roles   agent: the thread inside a Driving scope.  poster, settler, aborter, closer: any thread.
/// I1      Every node the loop holds outside the inbox is the agent's.
/// I2      The agent numbers tasks in the order of the inbox, and a local post first takes what the
///         inbox holds: enqueue order extends the real-time order of posts (ORD-1, ORD-2).
/// I3      Whoever holds a task disposes of it: the poster until its post succeeded, then the
///         agent. Aborters only claim, and tell (SignalLoop::send_reap).
/// Edge running: withdraw -> steal. The slot is emptied by exactly one of the two; the last to be
///         done with a stolen task drops the share the agent added for it (stolen_ends_).
/// Edge running: rejected -> reject. One closer is done with its stolen task before the next steals.
/// Edge stop: take -> send. The stop message is free to be sent again.
/// Edge stop: send -> take. What a closer asks for before it gets the agent up.
/// Edge drive: leave -> enter. Carries the agent's state from one driving thread to the next.
/// Edge closing: begin -> see. Carries what the report of this close begins with.
/// Edge recheck: request -> take. With D1 of SignalLoop: the request follows the value, the reading
///         follows the take.
/// Lifetime  counted. A closed loop's lists are empty.
class LoopCore {
 public:
  static Ref<LoopCore> make(const EventLoopOptions& options);
  /// One that stands for a cluster of these loops, which are not driven yet.
  static Ref<LoopCore> make_cluster(const EventLoopOptions& options,
                                    std::vector<Ref<LoopCore>> members, ReserveSetup reserves = {});
  LoopCore(const LoopCore&) = delete;
  LoopCore& operator=(const LoopCore&) = delete;

  // Any thread (loop_post.cpp).

  /// Enqueues a task. False: the loop is closed, the task is still the caller's.
  [[nodiscard]] bool post(SchedulerTask& task) noexcept;
  /// The same; when the loop is closed, the task is dropped.
  bool post_or_drop(SchedulerTask& task) noexcept;
  /// The same for a signal's time limit, which does not stand in line with what else is handed
  /// over. `below`: for try_take_back(), until it has arrived; zero: it cannot be taken back.
  [[nodiscard]] bool post_limit(SchedulerTask& limit, Inbox::Below& below) noexcept;
  /// Hands a limit to the agent, or a cluster's keeper; false: the loop is closed.
  [[nodiscard]] bool hand_over_limit(SchedulerTask& limit, Inbox::Below& below) noexcept;
  /// Any thread: whether the limit is the caller's again, as if it had not been posted.
  [[nodiscard]] bool try_take_back(SchedulerTask& limit, Inbox::Below below) noexcept {
    return limits_to_arm_.try_take_back(limit, below);
  }
  /// Hands a node to the agent. False: the loop is closed, the node is still the caller's.
  [[nodiscard]] bool hand_over(LoopNode& node) noexcept;
  /// The same for one that is a task, or stands for one, of another thread: false also when such are refused.
  [[nodiscard]] bool hand_over_task(LoopNode& node) noexcept;
  /// Hands a message or microtask to the agent; drops it when the loop is closed.
  void send(LoopNode& node) noexcept;
  /// The same for a message that only clears away, and runs no users' code: in a cluster it waits for an agent that is
  /// awake, until so many have come.
  void send_to_clear(LoopNode& node) noexcept;
  /// The message of an abort: however many there are, each pick looks at some of them only.
  void send_abort(LoopNode& message) noexcept;
  /// Refuses tasks from other threads from now on; messages still come.
  void refuse_tasks() noexcept {
    refuses_tasks_.store(true, sync::relaxed);  // relaxed: posts that overlap may fall either way.
  }
  /// For ForkWatch: in this child of fork nobody drives the loop, or a copy of the thread that did. It takes no tasks, and
  /// stops.
  static void lose_agent(void* loop) noexcept;
  /// Asks the agent to read the priority of its runnable dynamic queues again.
  void request_recheck() noexcept;
  void request_stop() noexcept;
  /// Whoever waits for work here does not sleep, until end_hot_phase() was called as often.
  void begin_hot_phase() noexcept {
    hot_phases_.fetch_add(1, sync::relaxed);  // relaxed: seen in time.
  }
  void end_hot_phase() noexcept { hot_phases_.fetch_sub(1, sync::relaxed); }  // relaxed: as above.
  [[nodiscard]] bool is_hot() const noexcept {
    return hot_phases_.load(sync::relaxed) != 0;  // relaxed: as above.
  }
  /// The agent: the stop has been heeded; the next one counts anew.
  void end_stop() noexcept HEIST_ON_AGENT;
  [[nodiscard]] LoopTime& time() noexcept { return time_; }
  /// Before a post: the task becomes runnable once the delay, counted from now, is over.
  void set_delay(SchedulerTask& task, Delay delay) const noexcept {
    if (delay.is_zero()) return;
    const auto now = time_.now();
    task.is_delayed = true;
    task.posted_at = now.count();
    task.key = LoopTime::end_of(delay, now);
  }
  /// The same for a signal's time limit. One of no length is over at once, and stands behind those
  /// that ended before.
  void set_time_limit(SchedulerTask& limit, Delay delay) const noexcept {
    set_delay(limit, delay);
    limit.is_delayed = limit.is_time_limit = true;
    if (delay.is_zero()) limit.key = static_cast<Tick>(time_.start_of(time_.tick_now()).count());
  }
  /// The driver: one more source of tasks.   Errors: std::bad_alloc.
  [[nodiscard]] SchedulerCore& add_scheduler();
  [[nodiscard]] SchedulerCore& first_scheduler() noexcept { return first_scheduler_; }
  /// What plain tasks are posted through (timers, timeouts, other task sources): no scheduler's.
  [[nodiscard]] SchedulerCore& plain_source() noexcept { return plain_source_; }
  [[nodiscard]] EventLoopStats stats() const noexcept;
  [[nodiscard]] Parker& parker() noexcept { return parker_; }
  /// What makes it stand for a cluster; null for others.
  [[nodiscard]] ClusterHub* hub() const noexcept { return hub_.get(); }
  /// Before it is driven.
  void join_cluster(ClusterHub& hub, unsigned index, bool is_reserve) noexcept {
    member_.hub = &hub;
    member_.index = index;
    member_.is_reserve = is_reserve;
  }
  [[nodiscard]] const Membership& membership() const noexcept { return member_; }
  /// Whether `cluster` stands for a cluster that this loop is in.
  [[nodiscard]] bool is_member_of(const LoopCore& cluster) const noexcept {
    return member_.hub != nullptr && member_.hub == cluster.hub();
  }
  /// Whoever has got it up from sleep (Inbox, IdleAgents).
  void wake_up() noexcept {
    wakeups_sent_.fetch_add(1, sync::relaxed);  // relaxed: a statistic.
    parker_.unpark();
  }

  // The agent (loop_run.cpp).

  /// Asserts that the caller is the agent.
  [[nodiscard]] AgentState& on_agent() noexcept HEIST_ASSERTS_AGENT {
    assert(loop_of_this_thread == this && "agent-only state touched off the agent");
    return *agent_;
  }
  void assert_agent() noexcept HEIST_ASSERTS_AGENT { static_cast<void>(on_agent()); }
  /// As post(), of a message that arrives, in its turn, or when the inbox has been taken.
  [[nodiscard]] bool post_in_turn(SchedulerTask& task) noexcept HEIST_ON_AGENT;
  /// Picks and runs one task; false when nothing is runnable, or (if heeded) a stop was requested.
  bool run_next(bool heed_stop = false) noexcept HEIST_ON_AGENT;
  /// Within a task that is made of others: between two of them it aborts the signals that a pick
  /// would.
  void run_ended_limits() noexcept HEIST_ON_AGENT;
  /// Waits for a task and runs it; false when stopped or closed instead.
  bool wait_and_run() noexcept HEIST_ON_AGENT;
  /// Runs tasks until a stop or a close.
  void run() noexcept HEIST_ON_AGENT;
  /// Makes runnable what other threads and the clock have for us. False: not all, as a time limit
  /// comes first, which run_next() runs.
  [[nodiscard]] bool collect_work() noexcept HEIST_ON_AGENT;
  /// As drain_inbox(), in portions. False: a time limit has ended meanwhile; the rest waits.
  [[nodiscard]] bool drain_until_limit() noexcept HEIST_ON_AGENT {
    return !has_messages() || drain_in_portions();
  }
  /// Takes what other threads handed over. Runs users' destructors.
  void drain_inbox() noexcept HEIST_ON_AGENT {
    if (has_messages()) [[unlikely]]
      drain_all();
  }
  /// Whether drain_inbox() has something to do.
  [[nodiscard]] bool has_messages() noexcept HEIST_ON_AGENT {
    return inbox_.has_posts() || on_agent().has_leftovers;
  }
  /// The same without running any user code: what is to be released waits for drain_inbox().
  void take_inbox() noexcept HEIST_ON_AGENT {
    if (!has_messages()) return;
    const AgentActivity::Moving moving(activity_);
    if (on_agent().has_leftovers) [[unlikely]]
      arrive_left();
    arrive_all(inbox_.take());
    if (on_agent().may_have_limits_to_arm) [[unlikely]]
      arm_all_limits();
  }
  /// For what runs long: whether there may be something to do above this level, or something to look after.
  [[nodiscard]] bool has_more_urgent(int level) noexcept HEIST_ON_AGENT;
  /// Sleeps until there may be something to do, or `limit`; at once awake when there is.
  void park(std::optional<LoopTime::Clock::time_point> limit = {}) noexcept HEIST_ON_AGENT;
  /// Until it is unparked, or until then.
  void sleep_until(const std::optional<LoopTime::Clock::time_point>& deadline) noexcept
      HEIST_ON_AGENT;
  /// For foreign loops: announces sleep and arms the descriptor, or makes it readable at once.
  void arm_descriptor() noexcept HEIST_ON_AGENT;
  void disarm_descriptor() noexcept HEIST_ON_AGENT;
  void microtask_checkpoint() noexcept HEIST_ON_AGENT {
    if (!on_agent().microtasks.empty()) run_microtasks();
  }
  /// Takes an unstarted task back from the queues or the wheel. False: it is in neither.
  [[nodiscard]] bool withdraw(SchedulerTask& task) noexcept HEIST_ON_AGENT;
  /// What was asked for at that time, on the loop's clock.   Precondition of suspend(): the
  /// scheduler has its delays.
  void suspend(SchedulerCore& scheduler, std::chrono::nanoseconds at) noexcept HEIST_ON_AGENT;
  void resume(SchedulerCore& scheduler, std::chrono::nanoseconds at) noexcept HEIST_ON_AGENT;
  /// The signal's priority changed: its queues move.
  void refresh_priority(SignalLoop& part) noexcept HEIST_ON_AGENT;
  /// The signal was aborted: its chain of tasks is cleared away from the next pick on (ABT-4).
  void reap_later(SignalLoop& part) noexcept HEIST_ON_AGENT;
  /// A pick has passed over a task. False: it goes on when the inbox and the clock have been looked at.
  [[nodiscard]] bool may_pass_more() noexcept HEIST_ON_AGENT {
    auto& agent = on_agent();
    agent.goes_on = ++agent.passed % pass_portion == 0;
    return !agent.goes_on;
  }
  /// Drops a message's reference to its signal once the inbox is drained: that may run users' code.
  void release_later(SignalLoop& part) noexcept HEIST_ON_AGENT;

  // The running task (task_run.cpp).
  void publish_running(ControlledTask& task) noexcept HEIST_ON_AGENT;
  /// One more task whose callback is called.
  void count_run() noexcept HEIST_ON_AGENT { ++tasks_run_; }
  void count_source(TaskSource source) noexcept HEIST_ON_AGENT {
    auto& count = source_tasks_run_[static_cast<std::size_t>(source)];
    // relaxed: a statistic with one writer.
    count.store(count.load(sync::relaxed) + 1, sync::relaxed);
  }
  /// Also when a close has taken it meanwhile: the task's memory then lasts until that is done.
  void withdraw_running(ControlledTask& task) noexcept HEIST_ON_AGENT;
  /// Any thread may look at it.
  [[nodiscard]] AgentActivity& activity() noexcept { return activity_; }
  [[nodiscard]] const AgentActivity& activity() const noexcept { return activity_; }

  /// Its thread waits, in what it runs, without a limit (cluster_waits.cpp).
  void begin_wait(const PromiseStateBase& on, const LoopCore* home) noexcept;
  void end_wait() noexcept;

  // Closing (loop_close.cpp).
  /// The agent: runs or drops everything, for good, by the terms that were asked for. Nothing more the second time.
  CloseReport close() noexcept HEIST_ON_AGENT;
  CloseReport close(const CloseMode& mode) noexcept HEIST_ON_AGENT {
    close_terms_.tighten(mode);
    return close();
  }
  /// Any thread: what counts for a close that is under way may be stricter now.
  void hurry_close(const CloseMode& mode) noexcept {
    close_terms_.tighten(mode);
    request_stop();
  }
  [[nodiscard]] CloseTerms& close_terms() noexcept { return close_terms_; }
  /// Any thread: a close() is under way.
  [[nodiscard]] bool is_closing() const noexcept {
    return is_closing_.load(sync::edge("closing:see", sync::acquire));
  }
  /// Any thread: what a drain that does not get on waits for.   Errors: std::bad_alloc.
  [[nodiscard]] DrainObstacle find_obstacle() const;
  /// Any thread: of the tasks that had not ended when `ended` had.
  [[nodiscard]] CloseReport report_since(std::uint64_t ended) noexcept;
  [[nodiscard]] CloseReport report() noexcept {
    // relaxed: written before by this thread, or ordered by closing:see.
    return report_since(ended_before_close_.load(sync::relaxed));
  }
  /// Any thread. Exact, unless the agent gets no processor for long while it moves tasks.   Blocks: for `patience` at the
  /// most, and while it walks over what the inbox holds.
  [[nodiscard]] TaskTally tally() noexcept;
  /// The same in one try, without waiting. None: the agent moves tasks.
  [[nodiscard]] std::optional<TaskTally> try_tally() noexcept;
  /// Any thread: as at some time during the call.   Blocks: as tally().
  [[nodiscard]] TasksBegun count_begun() noexcept;
  /// The same in one try, without waiting. None: the agent moves tasks.
  [[nodiscard]] std::optional<TasksBegun> try_count_begun() noexcept;
  /// What was aborted and not cleared away yet.
  void finish_garbage() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool is_closed() const noexcept { return inbox_.is_closed(); }
  /// The owner, after close and outside of any Driving scope: signals and promises may keep this object
  /// for long, but not what only an agent needs.
  void free_agent_state() noexcept {
    each_scheduler([](SchedulerCore& scheduler) { scheduler.delays.reset(); });
    agent_.reset();
    parker_.close_descriptor();
  }
  /// A closing thread, at its deadline: rejects the promise of the running task, if it has one.
  /// Does nothing while another closer is at it.
  void reject_running() noexcept;
  /// Whether the calling thread drives `loop`, be it outside of another one. Only compares.
  [[nodiscard]] static bool drives_here(const LoopCore* loop) noexcept {
    const LoopCore* driven = loop_of_this_thread;
    while (driven != nullptr && driven != loop) driven = driven->outer_loop_;
    return driven != nullptr;
  }
  /// The loop among those that the calling thread drives that is in a cluster; null: none.
  [[nodiscard]] static LoopCore* member_here() noexcept {
    LoopCore* driven = loop_of_this_thread;
    while (driven != nullptr && driven->member_.hub == nullptr) driven = driven->outer_loop_;
    return driven;
  }
  /// Whether the calling thread is an agent of this cluster, be it outside of another loop.
  [[nodiscard]] static bool drives_member_here(const ClusterHub* hub) noexcept {
    const LoopCore* driven = loop_of_this_thread;
    while (driven != nullptr && driven->member_.hub != hub) driven = driven->outer_loop_;
    return driven != nullptr;
  }

  friend void retain(LoopCore& core) noexcept;
  friend void release(LoopCore& core) noexcept;

 private:
  friend class Driving;
  friend class ClusterHub;
  struct StopMessage : LoopNode {
    StopMessage() noexcept;
    static void take(LoopNode& node, LoopCore& loop) noexcept;
    static void ignore(LoopNode& node) noexcept;
    static const LoopNodeOps table;
  };

  /// Tells the agent of `limits_to_arm_`, as AbortsMessage of `aborts_`.
  struct LimitsMessage : LoopNode {
    LimitsMessage() noexcept;
    static void take(LoopNode& node, LoopCore& loop) noexcept;
    static void ignore(LoopNode& node) noexcept;
    static const LoopNodeOps table;
  };

  /// Tells the agent that there are messages in `aborts_`; in the inbox once, as these wake nobody.
  struct AbortsMessage : LoopNode {
    AbortsMessage() noexcept;
    static void take(LoopNode& node, LoopCore& loop) noexcept;
    static void ignore(LoopNode& node) noexcept;
    static const LoopNodeOps table;
  };

  /// How many tasks a pick passes over before it looks at the inbox and the clock again.
  static constexpr unsigned pass_portion = 64;
  /// How many nodes arrive, or are turned round to arrive, between two looks at the time limits.
  static constexpr unsigned arrival_portion = 1024;
  static constexpr unsigned turned_portion = 8192;
  /// How many delays a pick finds to be over, or moves on in the wheel.
  static constexpr unsigned expiry_portion = 4096;
  /// How long a close waits for an agent that moves tasks, so that each is counted once.
  static constexpr std::chrono::milliseconds patience{50};

  explicit LoopCore(const EventLoopOptions& options);
  ~LoopCore();

  bool post_from_agent(SchedulerTask& task) noexcept;
  [[nodiscard]] bool is_ours_here() const noexcept;
  void drain_all() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool drain_in_portions() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool arrive_until_limit() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool arrive_until_limit(TakenNodes& taken) noexcept HEIST_ON_AGENT;
  void arrive_some(TakenNodes& taken, unsigned most = arrival_portion) noexcept HEIST_ON_AGENT;
  void arrive_left() noexcept HEIST_ON_AGENT;
  void arm_all_limits() noexcept HEIST_ON_AGENT;
  void close_limits() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool arm_until_limit() noexcept HEIST_ON_AGENT;
  void arm_limits(unsigned most = arrival_portion) noexcept HEIST_ON_AGENT;
  void note_leftovers() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool may_have_limits() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool limit_is_first() noexcept HEIST_ON_AGENT;
  void arrive(LoopNode& node) noexcept HEIST_ON_AGENT;
  void enqueue(SchedulerTask& task) noexcept HEIST_ON_AGENT;
  void enqueue_runnable(SchedulerTask& task) noexcept HEIST_ON_AGENT;
  void enqueue_dynamic(ControlledTask& task) noexcept HEIST_ON_AGENT;
  struct DelayEnd;
  void expire_timers(unsigned most = expiry_portion) noexcept HEIST_ON_AGENT;
  void expire_limits() noexcept HEIST_ON_AGENT;
  void recheck_priorities() noexcept HEIST_ON_AGENT;
  bool run_task(SchedulerTask& task) noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool has_news() noexcept HEIST_ON_AGENT;
  [[nodiscard]] SchedulerTask* try_pick() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool may_pick_limit() noexcept HEIST_ON_AGENT {
    return on_agent().limits.begin_pick(tasks_run_);
  }
  [[nodiscard]] SchedulerTask* pick_limit() noexcept HEIST_ON_AGENT {
    auto& limits = on_agent().limits;
    return !limits.empty() && may_pick_limit() ? &limits.pop() : nullptr;
  }
  [[nodiscard]] SchedulerTask* pick_limit_before_inbox() noexcept HEIST_ON_AGENT;
  [[nodiscard]] SchedulerTask* pick() noexcept HEIST_ON_AGENT;
  [[nodiscard]] LoopNode* pick_in_cluster() noexcept HEIST_ON_AGENT;
  bool run_picked(LoopNode& node) noexcept HEIST_ON_AGENT;
  void run_rest(LoopNode& node) noexcept HEIST_ON_AGENT;
  void end_task() noexcept HEIST_ON_AGENT;
  void run_reaction(Reaction& reaction) noexcept HEIST_ON_AGENT;
  void count_sleep() noexcept;
  [[nodiscard]] bool is_capped() const noexcept {
    return continuation_cap_ != continuation_cap_.zero();
  }
  [[nodiscard]] std::chrono::nanoseconds picking_time() const noexcept;
  [[nodiscard]] LatePick find_late(std::chrono::nanoseconds now) noexcept HEIST_ON_AGENT;
  [[nodiscard]] LoopNode* take_late_stealable(std::chrono::nanoseconds now,
                                              const LatePick& own) noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool has_pass(std::chrono::nanoseconds now) noexcept HEIST_ON_AGENT;
  [[nodiscard]] SchedulerTask* pop_by_policy() noexcept HEIST_ON_AGENT;
  [[nodiscard]] LoopNode* pick_stealable() noexcept HEIST_ON_AGENT;
  [[nodiscard]] LoopNode* pick_stealable_by_policy() noexcept HEIST_ON_AGENT;
  void discard(SchedulerTask& task) noexcept HEIST_ON_AGENT;
  void hold(SchedulerTask& task) noexcept HEIST_ON_AGENT;
  void become_runnable(SchedulerTask& task) noexcept HEIST_ON_AGENT;
  void end_delay(SchedulerTask& task) noexcept HEIST_ON_AGENT;
  void keep_delayed(SchedulerTask& task) noexcept HEIST_ON_AGENT;
  void arm_by_scheduler(SchedulerTask& task) noexcept HEIST_ON_AGENT;
  void expire_schedulers(std::size_t most) noexcept HEIST_ON_AGENT;
  void arm_wake(SchedulerCore& scheduler) noexcept HEIST_ON_AGENT;
  void disarm_wake(SchedulerCore& scheduler) noexcept HEIST_ON_AGENT;
  void take_delayed(SchedulerCore& scheduler, TaskFifo& into) noexcept HEIST_ON_AGENT;
  template <class Visit>
  void each_scheduler(Visit&& visit) {
    first_scheduler_.each(visit);
    // By index: a callback's destructor may create one.
    // NOLINTNEXTLINE(modernize-loop-convert)
    for (std::size_t i = 0; i < more_schedulers_.size(); ++i) more_schedulers_[i]->each(visit);
  }
  void release_held(SchedulerTask& task) noexcept HEIST_ON_AGENT;
  void drop_held(SchedulerCore& scheduler) noexcept HEIST_ON_AGENT;
  void arrive_all(LoopNode* oldest) noexcept HEIST_ON_AGENT;
  void run_microtasks() noexcept HEIST_ON_AGENT;
  void reap_for_a_while() noexcept HEIST_ON_AGENT;
  void reap_some() noexcept HEIST_ON_AGENT;
  void take_aborts(unsigned most) noexcept HEIST_ON_AGENT;
  void close_aborts() noexcept HEIST_ON_AGENT;
  /// Before users' code runs, which may take long: others look for what is published meanwhile (CLU-3, DLY-5).
  void end_search() noexcept HEIST_ON_AGENT {
    if (member_.searching) end_search_in_cluster();
  }
  void end_search_in_cluster() noexcept HEIST_ON_AGENT;
  void forget_rethrown() noexcept HEIST_ON_AGENT;
  /// What became of one aborted task: nothing was left to do, its memory was all that was left, or its callback went.
  enum class Reaped : std::uint8_t { none, memory, callback };
  [[nodiscard]] Reaped reap_one() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool has_work() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool has_due_delay() noexcept HEIST_ON_AGENT;
  void spin_for_work(std::optional<LoopTime::Clock::time_point> limit) noexcept HEIST_ON_AGENT;
  [[nodiscard]] std::optional<LoopTime::Clock::time_point> next_deadline() noexcept HEIST_ON_AGENT;
  void drain_by_terms() noexcept HEIST_ON_AGENT;
  [[nodiscard]] TaskTally read_tally() noexcept;
  [[nodiscard]] CloseReport own_report() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool has_more_to_come() noexcept HEIST_ON_AGENT;
  void close_inbox() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool has_garbage() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool has_loose_ends() noexcept HEIST_ON_AGENT;
  void release_signals() noexcept HEIST_ON_AGENT;
  void drop_everything() noexcept HEIST_ON_AGENT;
  void drop_task(SchedulerTask& task) noexcept HEIST_ON_AGENT;
  void reject_stolen(ControlledTask& task) noexcept;

  // Written by posters.
  alignas(64) Inbox inbox_;
  Inbox aborts_;         ///< messages of aborts; "asleep": the agent waits for `aborts_message_`
  Inbox limits_to_arm_;  ///< time limits of signals; "asleep": it waits for `limits_message_`
  sync::atomic<bool> recheck_{false};
  sync::atomic<bool> refuses_tasks_{false};  ///< draining: from other threads; messages still come
  sync::atomic<bool> stop_sent_{false};
  sync::atomic<std::uint64_t> wakeups_sent_{0};
  Parker parker_;

  // Written rarely.
  alignas(64) RefCount shares_{1};
  LoopTime time_;
  std::chrono::nanoseconds spin_;
  const std::chrono::nanoseconds continuation_cap_;
  const bool has_pick_policy_;  ///< a cap, or a maximum wait
  SchedulerCore first_scheduler_{*this};
  SchedulerCore plain_source_{*this};
  StopMessage stop_message_;
  AbortsMessage aborts_message_;
  LimitsMessage limits_message_;
  sync::atomic<bool> driven_{false};
  sync::atomic<std::uint32_t> hot_phases_{0};
  sync::atomic<bool> rejecting_{false};
  sync::atomic<std::uint32_t> stolen_ends_{0};
  CloseTerms close_terms_;
  sync::atomic<std::uint64_t> ended_before_close_{0};
  sync::atomic<bool> is_closing_{false};

  // Written by the agent.
  alignas(64) sync::atomic<ControlledTask*> running_{nullptr};
  AgentActivity activity_;
  OwnCount tasks_run_;
  sync::atomic<std::uint64_t> sleeps_{0};
  std::array<sync::atomic<std::uint64_t>, task_source_count> source_tasks_run_{};
  LoopCore* outer_loop_ = nullptr;  ///< the loop whose task drives this one; the driver's
  std::unique_ptr<AgentState> agent_;
  std::vector<std::unique_ptr<SchedulerCore>> more_schedulers_;  ///< the driver's
  Membership member_;
  std::unique_ptr<ClusterHub> hub_;
};

/// Disposes of a task that will never start: callback, signal, the agent's share. Whoever holds it.   Returns whether the
/// callback was still there.
bool dispose(ControlledTask& task) noexcept;
/// The same without the share; for who does not hold it.   Returns false when that was done before.
bool discard_contents(ControlledTask& task) noexcept;

}  // namespace heist
