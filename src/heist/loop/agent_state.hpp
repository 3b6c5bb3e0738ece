// What only a loop's agent touches, and a loop's place in a cluster.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <heist/reason.hpp>
#include <heist/scheduler_task.hpp>
#include <heist/scheduling_state.hpp>
#include <heist/sync.hpp>
#include <optional>

#include "../concurrent/own_count.hpp"
#include "agent_wait.hpp"
#include "continuation_run.hpp"
#include "delay_wheels.hpp"
#include "ended_limits.hpp"
#include "microtask_queue.hpp"
#include "task_queues.hpp"
#include "upkeep_time.hpp"
#include "wait_guard.hpp"

namespace heist {

struct SignalLoop;

/// State only the agent touches; reached through LoopCore::on_agent().
struct AgentState {
  TaskQueues queues;
  DelayWheels delays;
  EndedLimits limits;
  MicrotaskQueue microtasks;
  std::uint64_t next_enqueue_order = 1;
  SchedulingState current;              ///< scheduling state of what runs now
  std::uint32_t cooperative_tasks = 0;  ///< how many have run; their numbers
  bool in_checkpoint = false;
  /// Of what other threads handed over something waits here: what was left of an inbox, limits that
  /// are to be armed, or `released`.
  bool has_leftovers = false;
  bool may_have_limits_to_arm = false;  ///< in LoopCore::limits_to_arm_, of which nobody tells
  bool accepts_posts = true;            ///< from the agent itself; the inbox decides for others
  bool stop_requested = false;
  bool stop_taken = false;         ///< the stop message is in hand
  bool not_started = false;        ///< the task that was to run met its abort
  LoopNode* aborts = nullptr;      ///< messages of aborts, to be looked at in portions
  bool may_have_aborts = false;    ///< more of them may be in LoopCore::aborts_
  ControlledTask* reap = nullptr;  ///< chain of aborted tasks to clear away, in portions
  ControlledTask* reap_tail = nullptr;
  unsigned passed = 0;             ///< how many tasks picks have passed over
  bool goes_on = false;            ///< the pick was interrupted, having passed over many
  TaskFifo discarded;              ///< aborted tasks that arrived, or came up for a pick
  UpkeepTime reaping;              ///< of `reap` and `discarded`
  UpkeepTime keeping;              ///< of a cluster's keeper
  SignalLoop* released = nullptr;  ///< parts whose messages' references are to be dropped
  OwnCount tasks_dropped;
  sync::atomic<std::size_t> to_drop{0};  ///< how many the close drops, once it has begun to
  std::size_t suspended_schedulers = 0;
  OwnCount held_tasks;                    ///< by suspended schedulers, and all in SchedulerDelays
  OwnCount wakes;                         ///< among the delays, each for a scheduler's delays
  SchedulerCore* ended_delays = nullptr;  ///< a list: their own delays may have ended
  ContinuationRun continuations;
  std::optional<WaitGuard> guard;  ///< with a maximum wait
  Reason rethrown;                 ///< see rethrown.hpp

  /// How many tasks and time limits the loop has.   Thread: any; others than the agent see them as of a moment ago.
  [[nodiscard]] std::size_t size() const noexcept {
    const std::size_t all = limits.size() + queues.size() + delays.size() + held_tasks;
    return all > wakes ? all - wakes : 0;
  }
};

class ClusterHub;

/// A loop's place in a cluster.
struct Membership {
  ClusterHub* hub = nullptr;  ///< null: in none
  unsigned index = 0;
  bool is_reserve = false;               ///< it picks in the place of one that is blocked
  bool is_blocked = false;               ///< agent only: in blocking()
  bool searching = false;                ///< agent only: see IdleAgents
  sync::atomic<Tick> next_due{no_tick};  ///< of the loop's own delays, as it went to sleep
  sync::atomic<bool> holds{false};       ///< tasks of a suspended scheduler, as it went to sleep
  AgentWait wait;                        ///< also of a loop in no cluster
  // A reserve's own.
  bool is_rested = false;               ///< it slept for all its patience
  std::chrono::nanoseconds patience{};  ///< how long it sleeps before it looks whether it is needed
};

/// The last members of a cluster that is being made.
struct ReserveSetup {
  unsigned count = 0;
  /// How long one sleeps before it ends.
  std::chrono::nanoseconds idle = std::chrono::nanoseconds::max();
  class ReserveThreads* threads = nullptr;  ///< null: all of them are driven from the beginning
};

}  // namespace heist
