// LoopCore: one event loop. What any thread may touch, and what only its agent may.
#pragma once

#include <cassert>
#include <chrono>
#include <cstdint>
#include <heist/close.hpp>
#include <heist/event_loop.hpp>
#include <heist/ref.hpp>
#include <heist/scheduler_task.hpp>
#include <heist/scheduling_state.hpp>
#include <heist/sync.hpp>
#include <heist/task_source.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "agent_role.hpp"
#include "agent_sleep.hpp"
#include "agent_state.hpp"
#include "agent_wait.hpp"
#include "arrivals.hpp"
#include "loop_closing.hpp"
#include "membership.hpp"
#include "running_task.hpp"
#include "signal_core.hpp"
#include "task_counts.hpp"
#include "task_home.hpp"

namespace heist {

/// The loop the calling thread drives; current_loop() for code that sees this header.
extern thread_local constinit LoopCore* loop_of_this_thread;

/// One event loop.
///
/// Roles   agent: the thread inside a DriveScope; the owner of this home.  closer: any thread.
/// I1      The agent numbers tasks in the order of the inbox, and a local post first takes what the
///         inbox holds: enqueue order extends the real-time order of posts (ORD-1, ORD-2).
/// Edge stop: take -> send. The stop message is free to be sent again.
/// Edge stop: send -> take. What a closer asks for before it gets the agent up.
/// Edge drive: leave -> enter. Carries the agent's state from one driving thread to the next.
/// Edge recheck: request -> take. With D1 of SignalPort: the request follows the value, the reading
///         follows the take.
/// Lifetime  as TaskHome. A closed loop's lists are empty.
class LoopCore final : public TaskHome {
 public:
  static Ref<LoopCore> make(const EventLoopOptions& options);

  // Any thread (loop_core.cpp).

  [[nodiscard]] bool post(SchedulerTask& task) noexcept override;
  bool post_or_drop(SchedulerTask& task) noexcept override;
  [[nodiscard]] bool post_limit(SchedulerTask& limit, Inbox::Below& below) noexcept override;
  [[nodiscard]] bool deliver(Reaction& reaction) noexcept override;
  void send(LoopNode& message) noexcept override;
  void change_priority(SignalPort& port) noexcept override { port.notify_agent(*this); }
  [[nodiscard]] LoopCore* as_loop() noexcept override { return this; }
  /// Hands a node to the agent. False: the loop is closed, the node is still the caller's.
  [[nodiscard]] bool hand_over(LoopNode& node) noexcept;
  /// The same for one that is a task, or stands for one, of another thread: false also when such
  /// are refused.
  [[nodiscard]] bool hand_over_task(LoopNode& node) noexcept;
  /// Asks the agent to read the priority of its runnable dynamic queues again.
  void request_recheck() noexcept;
  void request_stop() noexcept;
  [[nodiscard]] bool is_stop_requested() const noexcept {
    return stop_sent_.load(
        sync::relaxed);  // relaxed: a stop that is asked for later may be seen later.
  }
  [[nodiscard]] EventLoopStats stats() const noexcept;
  /// Tasks that have not started.   Cost: a walk over what the inbox holds.
  [[nodiscard]] std::size_t count_unstarted() noexcept {
    return agent_->size() + inbox().count_tasks() + limits_to_arm().count();
  }

  // Its parts; each says who may do what.

  [[nodiscard]] AgentSleep& sleep() noexcept { return sleep_; }
  [[nodiscard]] TaskCounts& counts() noexcept { return counts_; }
  [[nodiscard]] RunningTask& running_task() noexcept { return running_; }
  [[nodiscard]] LoopClosing& closing() noexcept { return closing_; }
  [[nodiscard]] Arrivals& arrivals() noexcept { return arrivals_; }
  /// What its thread waits for, in what it runs, without a limit.
  [[nodiscard]] AgentWait& wait() noexcept { return wait_; }
  /// Its place in a cluster; null: it is in none.
  [[nodiscard]] Membership* membership() const noexcept { return membership_.get(); }
  [[nodiscard]] bool is_member_of(const TaskHome& cluster) const noexcept {
    return membership_ != nullptr && &membership_->cluster() == &cluster;
  }

  // The driver.

  /// The loop whose task drives this one; null: none.
  [[nodiscard]] LoopCore* outer_loop() const noexcept { return outer_loop_; }
  /// Before it is driven.
  void join(std::unique_ptr<Membership> membership) noexcept;
  /// One more source of tasks.   Errors: std::bad_alloc.
  [[nodiscard]] SchedulerCore& add_scheduler();
  /// After close and outside of any DriveScope: signals and promises may keep this object for long,
  /// but not what only an agent needs.
  void free_agent_state() noexcept;

  // The agent: what it has taken over (loop_core.cpp).

  /// Asserts that the caller is the agent.
  [[nodiscard]] AgentState& on_agent() noexcept HEIST_ASSERTS_AGENT {
    assert(loop_of_this_thread == this && "agent-only state touched off the agent");
    return *agent_;
  }
  void assert_agent() noexcept HEIST_ASSERTS_AGENT { static_cast<void>(on_agent()); }
  /// As post(), of a message that arrives, in its turn, or when the inbox has been taken.
  [[nodiscard]] bool post_in_turn(SchedulerTask& task) noexcept HEIST_ON_AGENT;
  /// Whether drain_inbox() has something to do.
  [[nodiscard]] bool has_messages() noexcept HEIST_ON_AGENT {
    return inbox().has_posts() || on_agent().has_leftovers || aborted().has_released();
  }
  /// Takes what other threads handed over. Runs users' destructors.
  void drain_inbox() noexcept HEIST_ON_AGENT {
    if (has_messages()) [[unlikely]]
      arrivals_.drain();
  }
  /// The same without running any user code: what is to be released waits for drain_inbox().
  void take_inbox() noexcept HEIST_ON_AGENT {
    if (has_messages()) arrivals_.take();
  }
  /// A node that has left the inbox.
  void arrive(LoopNode& node) noexcept HEIST_ON_AGENT {
    switch (node.ops->kind) {
      case LoopNodeKind::task:
        return enqueue(static_cast<SchedulerTask&>(node));
      case LoopNodeKind::microtask:
        return on_agent().microtasks.push(node);
      case LoopNodeKind::forked:  // not here: agents pick it
        break;
      case LoopNodeKind::message:
        return take_message(node, *this);
    }
  }
  /// Refuses everything from other threads, and takes what they had handed over.
  void close_inbox() noexcept HEIST_ON_AGENT;
  void release_held(SchedulerCore& scheduler) noexcept override;
  [[nodiscard]] bool reap(ControlledTask& task) noexcept override;
  /// Drops references to signals. Runs users' destructors.
  void release_signals() noexcept HEIST_ON_AGENT;
  template <class Visit>
  void each_scheduler(Visit&& visit) {
    first_scheduler().each(visit);
    // By index: a callback's destructor may create one.
    // NOLINTNEXTLINE(modernize-loop-convert)
    for (std::size_t i = 0; i < more_schedulers_.size(); ++i) more_schedulers_[i]->each(visit);
  }

  // The agent: how it runs (loop_core_run.cpp).

  /// Picks and runs one task; false when nothing is runnable, or (if heeded) a stop was requested.
  bool run_next(bool heed_stop = false) noexcept HEIST_ON_AGENT;
  /// Within a task that is made of others: between two of them it aborts the signals that a pick
  /// would.
  void run_ended_limits() noexcept HEIST_ON_AGENT;
  /// Waits for a task and runs it; false when stopped or closed instead.
  bool wait_and_run() noexcept HEIST_ON_AGENT;
  /// Runs tasks until a stop or a close.
  void run() noexcept HEIST_ON_AGENT;
  /// The stop has been heeded; the next one counts anew.
  void end_stop() noexcept HEIST_ON_AGENT;
  /// Makes runnable what other threads and the clock have for us. False: not all, as a time limit
  /// comes first, which run_next() runs.
  [[nodiscard]] bool collect_work() noexcept HEIST_ON_AGENT;
  /// A reaction of this loop, or of its cluster when it goes on with what settles its promise.
  void push_microtask(Reaction& reaction) noexcept HEIST_ON_AGENT;
  void microtask_checkpoint() noexcept HEIST_ON_AGENT {
    if (!on_agent().microtasks.empty()) run_microtasks();
  }
  /// For what runs long: whether there may be something to do above this level, or something to
  /// look after.
  [[nodiscard]] bool has_more_urgent(int level) noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool has_work() noexcept HEIST_ON_AGENT;
  /// Sleeps until there may be something to do, or `limit`; at once awake when there is.
  void park(std::optional<LoopTime::Clock::time_point> limit = {}) noexcept HEIST_ON_AGENT;
  /// Before it sleeps: users' code, too.
  void forget_rethrown() noexcept HEIST_ON_AGENT;

  /// Before users' code runs, which may take long.
  void end_search() noexcept HEIST_ON_AGENT {
    if (on_agent().is_searching) membership_->end_search();
  }

 private:
  friend class DriveScope;
  struct StopMessage : LoopNode {
    StopMessage() noexcept;
    static void take(LoopNode& node, TaskHome& home) noexcept;
    static void ignore(LoopNode& node) noexcept;
    static const MessageOps table;
  };

  explicit LoopCore(const EventLoopOptions& options);
  ~LoopCore() override;

  bool post_from_agent(SchedulerTask& task) noexcept;
  void enqueue(SchedulerTask& task) noexcept HEIST_ON_AGENT {
    task.is_aborted() ? aborted().discard(task) : on_agent().enqueue(task);
  }
  [[nodiscard]] bool has_news() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool has_loose_ends() noexcept HEIST_ON_AGENT;
  void run_microtasks() noexcept HEIST_ON_AGENT;
  void reap_for_a_while() noexcept HEIST_ON_AGENT;

  // Written by posters.
  sync::atomic<bool> recheck_{false};
  sync::atomic<bool> stop_sent_{false};
  AgentSleep sleep_;

  // Written rarely.
  alignas(64) StopMessage stop_message_;
  sync::atomic<bool> driven_{false};
  LoopClosing closing_{*this};
  Arrivals arrivals_{*this, inbox()};
  std::unique_ptr<AgentState> agent_;
  std::vector<std::unique_ptr<SchedulerCore>> more_schedulers_;  ///< the driver's
  std::unique_ptr<Membership> membership_;

  // Written by the agent.
  alignas(64) RunningTask running_;
  TaskCounts counts_{*this};
  AgentWait wait_;
  LoopCore* outer_loop_ = nullptr;  ///< the driver's
};

}  // namespace heist
