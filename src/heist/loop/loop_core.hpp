// LoopCore: one event loop. What any thread may touch, and what only its agent may.
#pragma once

#include <cassert>
#include <chrono>
#include <cstdint>
#include <heist/detail/ref.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/scheduling_state.hpp>
#include <heist/detail/sync.hpp>
#include <heist/event_loop.hpp>
#include <heist/task_source.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "../concurrent/trace_watch.hpp"
#include "../os/probe.hpp"
#include "../signal/signal_core.hpp"
#include "../task/task_home.hpp"
#include "agent_role.hpp"
#include "agent_sleep.hpp"
#include "agent_state.hpp"
#include "agent_times.hpp"
#include "agent_wait.hpp"
#include "arrivals.hpp"
#include "loop_closing.hpp"
#include "membership.hpp"
#include "running_task.hpp"
#include "stop_request.hpp"
#include "task_counts.hpp"

namespace HEIST_NAMESPACE::detail {

/// The loop that the calling thread drives: current_loop() for code that sees this header.
extern thread_local constinit LoopCore* loop_of_this_thread;

/// One event loop.
///
/// Roles   agent: the thread inside a DriveScope; the owner of this home.  closer: any thread.
/// I1      The agent numbers tasks in the order of the inbox, and a local post first takes what the
///         inbox holds: enqueue order extends the real-time order of posts (ORD-1, ORD-2).
/// Edge drive: leave -> enter. Carries the agent's state from one driving thread to the next.
/// Edge recheck: request -> take. With D1 of PortExtras: the request follows the value, the reading
///         follows the take.
/// Lifetime  as TaskHome. A closed loop's lists are empty.
class LoopCore final : public TaskHome {
 public:
  static Ref<LoopCore> make(const EventLoopOptions& options);

  // What any thread may call.

  [[nodiscard]] bool post(SchedulerTask& task) noexcept override;
  bool post_or_drop(SchedulerTask& task) noexcept override;
  [[nodiscard]] bool post_limit(SchedulerTask& limit, Inbox::Below& below) noexcept override;
  [[nodiscard]] bool deliver(Reaction& reaction) noexcept override;
  void send(LoopNode& message) noexcept override;
  void change_priority(SignalPort& port) noexcept override { port.notify_agent(*this); }
  using TaskHome::reserve_place;
  void reserve_place(ControlledTask& task) override {
    if (task.is_continuation) priority_port_of(task).reserve_continuations();
  }
  [[nodiscard]] LoopCore* as_loop() noexcept override { return this; }
  /// Posts any node to the agent. Returns false when the loop is closed, and the node is still the
  /// caller's.
  [[nodiscard]] bool post_node(LoopNode& node) noexcept;
  /// The same for a node of another thread that is a task, or stands for one. False also when the
  /// loop refuses tasks.
  [[nodiscard]] bool post_as_task(LoopNode& node) noexcept;
  void request_recheck() noexcept override;
  /// The number of tasks that have not started.   Cost: a walk over what the inbox holds.
  [[nodiscard]] std::size_t count_unstarted() noexcept {
    return agent_->size() + inbox().count_tasks() + limits_to_arm().count();
  }

  /// What the agent has counted at a level.
  [[nodiscard]] const LevelCounts& level_counts(int level) const noexcept {
    return std::as_const(agent_->queues).counts(level);
  }

  /// Whether a thread drives the loop. It may have changed meanwhile.
  [[nodiscard]] bool is_driven() const noexcept;

  // Its parts; each says who may do what.

  [[nodiscard]] AgentSleep& sleep() noexcept { return sleep_; }
  [[nodiscard]] TaskCounts& counts() noexcept { return counts_; }
  [[nodiscard]] const TaskCounts& counts() const noexcept { return counts_; }
  [[nodiscard]] AgentTimes& times() noexcept { return times_; }
  [[nodiscard]] const AgentTimes& times() const noexcept { return times_; }
  [[nodiscard]] RunningTask& running_task() noexcept { return running_; }
  [[nodiscard]] StopRequest& stop_request() noexcept { return stop_request_; }
  [[nodiscard]] LoopClosing& closing() noexcept { return closing_; }
  [[nodiscard]] Arrivals& arrivals() noexcept { return arrivals_; }
  /// What the agent's thread waits for without a limit, within a task.
  [[nodiscard]] AgentWait& wait() noexcept { return wait_; }
  /// The loop's place in a cluster; null when it is in none.
  [[nodiscard]] Membership* membership() const noexcept { return membership_.get(); }
  [[nodiscard]] bool is_member_of(const TaskHome& cluster) const noexcept {
    return membership_ != nullptr && &membership_->cluster() == &cluster;
  }

  // What only the driver calls.

  /// The loop whose task drives this one, or null.
  [[nodiscard]] LoopCore* outer_loop() const noexcept { return outer_loop_; }
  /// The scheduling state of what the driver runs on this loop, perhaps with other loops nested in
  /// it.
  [[nodiscard]] const SchedulingState& state_here() const noexcept { return agent_->current; }
  /// Makes the loop one of a cluster. To be called before it is driven.
  void join(std::unique_ptr<Membership> membership) noexcept;
  /// Adds one more source of tasks.   Errors: std::bad_alloc.
  [[nodiscard]] SchedulerCore& add_scheduler();
  /// After close and outside of any DriveScope: signals and promises may keep this object for long,
  /// but not what only an agent needs.
  void free_agent_state() noexcept;

  // What only the agent calls: what it has taken over.

  /// Asserts that the caller is the agent.
  [[nodiscard]] AgentState& on_agent() noexcept HEIST_ASSERTS_AGENT {
    assert(loop_of_this_thread == this && "agent-only state touched off the agent");
    return *agent_;
  }
  void assert_agent() noexcept HEIST_ASSERTS_AGENT { static_cast<void>(on_agent()); }
  /// As post(), for a message that arrives, or when the inbox has been taken: the task takes its
  /// turn now.
  [[nodiscard]] bool post_in_turn(SchedulerTask& task) noexcept HEIST_ON_AGENT;
  /// Whether other threads have posted something that has not arrived, or there is something to
  /// release.
  [[nodiscard]] bool has_messages() noexcept HEIST_ON_AGENT {
    return inbox().has_posts() || has_leftovers();
  }
  /// Takes what other threads posted without running any user code. References to signals, which
  /// are to be released, wait for Arrivals::drain().
  void take_inbox() noexcept HEIST_ON_AGENT {
    if (has_messages()) arrivals_.take();
  }
  void take_priority_change(SignalPort& port) noexcept override;
  /// Refuses everything from other threads from now on, and takes what they have posted.
  void close_inbox() noexcept HEIST_ON_AGENT;
  void release_held(SchedulerCore& scheduler) noexcept override;
  [[nodiscard]] bool reap(ControlledTask& task) noexcept override;
  /// Clears away a portion of what was aborted. Runs users' destructors.
  void reap_some() noexcept HEIST_ON_AGENT;
  /// Called within a pick that has run users' code: makes runnable what that has posted. Returns
  /// false when some is left, as a time limit comes first.
  [[nodiscard]] bool collect_made() noexcept HEIST_ON_AGENT;
  /// Called within a task, or a destructor of one, that waits for the end of aborted tasks:
  /// disposes of them here, until `awaited` has settled or none is left. Also drops the microtasks
  /// that only end something. Runs users' destructors, within no scheduling state.
  void clear_aborted(const PromiseStateBase& awaited) noexcept HEIST_ON_AGENT;
  /// Drops references to signals. Runs users' destructors.
  void release_signals() noexcept HEIST_ON_AGENT;
  template <class Visit>
  void each_scheduler(Visit&& visit) {
    first_scheduler().each(visit);
    // The loop goes by index, as a callback's destructor may add a scheduler.
    // NOLINTNEXTLINE(modernize-loop-convert)
    for (std::size_t i = 0; i < more_schedulers_.size(); ++i) more_schedulers_[i]->each(visit);
  }

  // What only the agent calls: how it runs.

  /// Called when a task starts, before its callback is called.
  void begin_task(SchedulerTask& task) noexcept HEIST_ON_AGENT {
    HEIST_PROBE(start, &task, this);
    counts_.count_run();
    counts_.activity().say_runs(&task);
    if (task.is_sampled || task.has_label || is_traced_) [[unlikely]]
      begin_measuring(task);
  }
  /// The same for a stealable continuation, or the rest of a task that forked.
  void begin_continuation(const LoopNode& node) noexcept HEIST_ON_AGENT {
    if (is_traced_) [[unlikely]]
      trace_continuation(node);
  }
  /// Called when what has started has ended, with its microtasks.
  void end_if_measured() noexcept HEIST_ON_AGENT {
    HEIST_PROBE(end, this);
    if (times_.is_measuring()) [[unlikely]]
      end_measuring();
  }
  /// The level from which a task was picked that has not ended.
  [[nodiscard]] int level_of_picked(const SchedulerTask& task) const noexcept;
  /// Picks and runs one task; false when nothing is runnable, or (if heeded) a stop was requested.
  bool run_next(bool heed_stop = false) noexcept HEIST_ON_AGENT;
  /// Runs tasks until none is runnable. Returns how many.
  std::size_t run_all() noexcept HEIST_ON_AGENT;
  /// Called between two parts of a task that is made of many: aborts the signals that a pick would.
  void run_ended_limits() noexcept HEIST_ON_AGENT;
  /// Runs tasks until a stop or a close.
  void run() noexcept HEIST_ON_AGENT;
  /// Makes runnable what other threads have posted and whose delay is over. Returns false when some
  /// is left, as a time limit comes first, which run_next() runs.
  [[nodiscard]] bool collect_work() noexcept HEIST_ON_AGENT;
  /// Queues a reaction of this loop, or one of its cluster that goes on with what settles its
  /// promise.
  void push_microtask(Reaction& reaction) noexcept HEIST_ON_AGENT;
  void microtask_checkpoint() noexcept HEIST_ON_AGENT {
    if (!on_agent().microtasks.empty()) run_microtasks();
  }
  void end_callback() noexcept override;
  /// Called within a task whose thread is about to wait, or to block: the microtasks that other
  /// agents of the cluster may run as well do not wait for it.
  void give_to_cluster() noexcept;
  /// For work that takes long: whether there may be something to do above this level, or something
  /// to look after.
  [[nodiscard]] bool has_more_urgent(int level) noexcept HEIST_ON_AGENT;
  /// For the running task: whether something more urgent than its continuation waits. Takes what
  /// has come, and runs nothing of it. If there is nothing, the agent keeps that in mind
  /// (UrgentLook).
  [[nodiscard]] bool looks_for_urgent() noexcept HEIST_ON_AGENT;
  /// Says anew whether something is left (has_leftovers()). A look holds no more: something else
  /// may be what waits, or what runs, by now.
  void note_leftovers() noexcept HEIST_ON_AGENT {
    on_agent().look.forget();
    note_leftovers_but_looks();
  }
  /// Called where something changes that a look has seen, and before a pick.
  void forget_look() noexcept HEIST_ON_AGENT {
    if (has_leftovers()) note_leftovers();
  }
  [[nodiscard]] bool has_work() noexcept HEIST_ON_AGENT;
  /// Sleeps until there may be something to do, or until `limit`. It does not sleep when there is
  /// something.
  void park(std::optional<LoopTime::Clock::time_point> limit = {}) noexcept HEIST_ON_AGENT;
  /// Called before the agent sleeps. It may run users' code.
  void forget_rethrown() noexcept HEIST_ON_AGENT;

  // What only the agent calls: its host, if it has one (AgentHost).

  /// Lets the agent sleep in the host.   Errors: std::system_error, and what the host throws.
  void begin_host(AgentHost& host) HEIST_ON_AGENT;
  void end_host(AgentHost& host) noexcept HEIST_ON_AGENT;
  /// Called after a task, or after several.
  void poll_host_after_task() noexcept HEIST_ON_AGENT {
    if (sleep_.host().is_due_after_task()) poll_host();
  }
  /// Called while the agent looks for work. Returns whether the host had a turn.
  bool poll_host_if_due() noexcept HEIST_ON_AGENT;
  /// Called by the host within its wait, before it calls users' code: the agent is awake.
  void end_host_wait() noexcept HEIST_ON_AGENT;

  /// Called before users' code runs, which may take long.
  void end_search() noexcept HEIST_ON_AGENT {
    if (on_agent().is_searching) membership_->end_search();
  }

 private:
  friend class DriveScope;
  friend class DriveByTheWay;

  explicit LoopCore(const EventLoopOptions& options);
  ~LoopCore() override;

  void begin_measuring(SchedulerTask& task) noexcept HEIST_ON_AGENT;
  void end_measuring() noexcept HEIST_ON_AGENT;
  void trace_start(const LoopNode& node, const TaskLabel& label, int level,
                   std::uint64_t time) noexcept HEIST_ON_AGENT;
  void trace_continuation(const LoopNode& node) noexcept HEIST_ON_AGENT;
  bool post_from_agent(SchedulerTask& task) noexcept;
  bool post_behind_inbox(SchedulerTask& task) noexcept;
  [[nodiscard]] bool try_drive(std::uint32_t how) noexcept;
  void end_driving_by_the_way() noexcept;
  [[nodiscard]] bool has_news() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool step(bool heed_stop) noexcept HEIST_ON_AGENT;
  void run_beside_host() noexcept HEIST_ON_AGENT;
  void poll_host() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool has_loose_ends() noexcept HEIST_ON_AGENT;
  void take_recheck() noexcept HEIST_ON_AGENT;
  void show_words() noexcept;
  void run_microtasks() noexcept HEIST_ON_AGENT;
  void drop_ends() noexcept HEIST_ON_AGENT;
  void reap_for_a_while() noexcept HEIST_ON_AGENT;

  // Posters write these.
  sync::atomic<std::uint32_t> recheck_{0};
  AgentSleep sleep_;

  // These are written rarely.
  alignas(64) StopRequest stop_request_{*this};
  sync::atomic<std::uint32_t> driven_{0};  ///< DriveScope says what it means
  LoopClosing closing_{*this};
  Arrivals arrivals_{*this, inbox()};
  std::unique_ptr<AgentState> agent_;
  std::vector<std::unique_ptr<SchedulerCore>> more_schedulers_;  ///< the driver's
  std::unique_ptr<Membership> membership_;

  // The agent writes these.
  alignas(64) RunningTask running_;
  AgentTimes times_;
  TaskCounts counts_{*this};
  AgentWait wait_;
  LoopCore* outer_loop_ = nullptr;  ///< the driver's
  bool is_traced_ = false;          ///< whether a trace ran when the agent took a recheck

  TraceWatch trace_watch_{
      this, [](void* loop) noexcept { static_cast<LoopCore*>(loop)->request_recheck(); }};
};

}  // namespace HEIST_NAMESPACE::detail
