// SchedulerTask: a posted task, its state word and its transitions (docs/lifetime.md is the table).
#pragma once

#include <cstddef>
#include <cstdint>
#include <heist/detail/export.hpp>
#include <heist/detail/levels.hpp>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/owner.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/scheduling_state.hpp>
#include <heist/detail/sync.hpp>
#include <heist/error.hpp>
#include <heist/priority.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

class PromiseStateBase;
struct SignalQueueEntry;
struct SignalPort;

/// A place in a queue that moves with a signal. It is made ahead of its use.
using SignalQueueEntryOwner = Owner<SignalQueueEntry>;
HEIST_EXPORT void discard(SignalQueueEntry& entry) noexcept;

/// Phases of a task; docs/lifetime.md has the table of phases and events. An unstarted task is
/// `posted` wherever it is: in an inbox, a queue, a wheel, or a cluster's bins and rings.
enum class TaskPhase : std::uint8_t {
  posted,  ///< not started; may still be aborted
  /// Its callback, the checkpoint after it, or the tree that it returned runs. A task without a
  /// signal may stay so when it has ended: its agent needs no claim to settle it.
  started,
  adopting,         ///< the callback returned a promise, which alone decides
  finished,         ///< its outcome settled the promise; or it has none, and has started
  aborted,          ///< claimed before it started: never starts
  aborted_running,  ///< aborted while it ran: its late outcome is dropped
  closed_running,   ///< a close's deadline came while it ran: as aborted_running
};

/// Where the agent keeps a task. Only the agent may use it, once the task has arrived.
enum class TaskPlace : std::uint8_t {
  elsewhere,
  queued,
  delayed,
  discarded,
  held,  ///< runnable, but its scheduler is suspended
  /// Delayed, and its tick has come, but its scheduler's time has not (SchedulerDelays).
  delayed_longer,
  delayed_by_scheduler,  ///< delayed, in a wheel that its scheduler has of its own
  ended_limit,           ///< a signal's time limit that has ended: it goes before all tasks
};

/// How a callback ended.
///
/// It has 32 bits because the library and the program may be compiled by two compilers: clang
/// expects its caller to widen an argument of 8 bits, and g++ does not widen one that is a scoped
/// enumeration.
enum class TaskOutcome : std::uint32_t {
  value,
  exception,
  promise,       ///< the callback returned a promise, which decides
  late_promise,  ///< as promise, but an abort came first: the callback lives until it settles
  forked,        ///< the callback returned a Forkable; the task ends when that has ended
};

class SchedulerTask;

/// What the loop needs to know of a task that has a signal or a promise.
struct TaskOps : LoopNodeOps {
  /// Calls the callback and keeps its value; an exception is stored in `error`.
  TaskOutcome (*invoke)(SchedulerTask&, Reason& error) noexcept;
  /// Settles the promise with the kept outcome. The winner of try_finish or try_adopt calls it, or
  /// the agent, when nobody else can claim the task. It is also called with a late promise, which
  /// settles nothing, and with a Forkable, once the callback's part is over.
  void (*settle)(SchedulerTask&, TaskOutcome, Reason& error) noexcept;
  /// Destroys a kept outcome that came too late.
  void (*discard_outcome)(SchedulerTask&, TaskOutcome) noexcept;
  /// Rejects the promise, if there is one; a continuation without one resumes its coroutine with
  /// the reason. The winner of try_abort calls it.
  void (*reject)(SchedulerTask&, const Reason&) noexcept;
  /// Destroys the callback.
  void (*discard_callback)(SchedulerTask&) noexcept;
  /// Drops the agent's share of the node; the node may be gone afterwards.
  void (*retire)(SchedulerTask&) noexcept;
  /// These two add and drop a share of the node's memory that is not the agent's own.
  void (*add_share)(SchedulerTask&) noexcept;
  void (*release_share)(SchedulerTask&) noexcept;
  /// The promise that the task settles, or null if there is none.
  const PromiseStateBase* (*promise)(SchedulerTask&) noexcept = nullptr;
};

/// The same operations for tasks with a label so far behind their start.
[[nodiscard]] constexpr TaskOps labelled_ops(TaskOps ops, std::size_t label_at) noexcept {
  ops.label_at = static_cast<std::uint32_t>(label_at);
  return ops;
}

/// A task of a scheduler. The callable, and for post_task the promise's state, follow in the same
/// node.
///
/// Edges of phase_: whoever claims a task by a transition owns its outcome from then on.
/// Edge phase: finish -> claim, observe. Carries the kept outcome; an aborter's claim and the
/// pruner read after it.
/// Edge phase: claim -> finish, observe. What an aborter did before its claim happens before a late
/// finish.
/// Edge phase: start -> claim. Carries nothing plain, but is one half of the start/abort pair
///   (start: phase CAS, then load of the signal's reason; abort: CAS of the reason, then phase CAS;
///   all four seq_cst, so either the start sees the reason or the aborter sees the start). ABT-2
///   alone would need only acquire and release: the aborter's walk meets every registered task,
///   both CASes are on one word, and a start that is ordered after the return of abort() reads the
///   reason by coherence. With seq_cst a start heeds a reason even if nothing orders it after that
///   abort.
class SchedulerTask : public LoopNode {
 public:
  SchedulerTask(const LoopNodeOps& table, bool controlled) noexcept
      : LoopNode(table), has_control(controlled) {}

  SchedulerCore* scheduler = nullptr;

 private:
  sync::atomic<TaskPhase> phase_{TaskPhase::posted};

 public:
  TaskPriority priority : 8 = TaskPriority::user_visible;
  std::uint8_t level = 0;  ///< agent only: level of the queue it is in, or is the first of
  TaskPlace place = TaskPlace::elsewhere;  ///< agent only
  const bool has_control;                  ///< whether it is a ControlledTask
  bool is_continuation = false;
  bool is_dynamic = false;         ///< priority follows the signal
  bool is_delayed : 1 = false;     ///< key and posted_at say until when, on arrival
  bool is_time_limit : 1 = false;  ///< of a signal, which it aborts before any task starts
  /// Of an in-place task: its priority is its scheduler's, and not that of its receiver.
  bool has_own_priority : 1 = false;
  bool has_label : 1 = false;   ///< so that whoever starts it looks for that
  bool is_sampled : 1 = false;  ///< SampledWaits knows since when it waits

  /// Called once the task is made: it has a label, where this table says.
  void set_labelled(const LoopNodeOps& labelled_table) noexcept {
    ops = &labelled_table;
    has_label = true;
  }
  /// The effective priority of a task with a static priority.
  [[nodiscard]] int static_level() const noexcept {
    return effective_priority(priority, is_continuation);
  }

  [[nodiscard]] TaskPhase phase() const noexcept {
    return phase_.load(sync::edge("phase:observe", sync::acquire));
  }

  /// Whether an aborter claimed the task before it started.
  [[nodiscard]] bool is_aborted() const noexcept {
    return has_control && phase() == TaskPhase::aborted;
  }

  /// posted -> started. Returns false when an abort or a close was first.
  [[nodiscard]] bool try_start() noexcept { return leave_posted(TaskPhase::started); }
  /// posted -> finished: a task starts that has no outcome which anybody could claim while it runs.
  /// Returns false when an abort or a close was first.
  [[nodiscard]] bool try_start_without_outcome() noexcept {
    return leave_posted(TaskPhase::finished);
  }
  /// The same for a task without links, before a close can find it (RunningTask).
  void start_unclaimed() noexcept {
    phase_.store(TaskPhase::started, sync::relaxed);  // relaxed: RunningTask publishes it.
  }

  /// started -> finished. Returns false when an abort or a close was first; the caller must drop
  /// the outcome.
  [[nodiscard]] bool try_finish() noexcept { return leave_started(TaskPhase::finished); }

  /// started -> adopting. Returns false when an abort or a close was first.
  [[nodiscard]] bool try_adopt() noexcept { return leave_started(TaskPhase::adopting); }

  /// posted -> aborted, or started -> aborted_running. The result says which, or that it is too
  /// late to abort the task.
  enum class AbortClaim : std::uint8_t { unstarted, running, none };
  [[nodiscard]] AbortClaim try_abort() noexcept {
    auto seen = TaskPhase::posted;
    if (claim(seen, TaskPhase::aborted)) return AbortClaim::unstarted;
    if (seen == TaskPhase::started && claim(seen, TaskPhase::aborted_running)) {
      return AbortClaim::running;
    }
    return AbortClaim::none;
  }

  /// posted -> finished, without running. Called by whoever holds the task when its loop is closed
  /// or refuses it. Returns false if an aborter was first.
  [[nodiscard]] bool try_drop() noexcept {
    auto seen = TaskPhase::posted;
    return claim(seen, TaskPhase::finished);
  }

  /// started -> closed_running. Called by a close whose deadline has come. Returns false if the
  /// task had settled or was aborted.
  [[nodiscard]] bool try_close_running() noexcept {
    auto seen = TaskPhase::started;
    return claim(seen, TaskPhase::closed_running);
  }

  /// Whether its registration with the signal may go. Aborted tasks are not done: they belong to
  /// the aborter, which still has them in a list.
  [[nodiscard]] bool is_done() const noexcept {
    const auto now = phase();
    return now == TaskPhase::finished || now == TaskPhase::adopting ||
           now == TaskPhase::closed_running;
  }

 private:
  bool leave_posted(TaskPhase to) noexcept {
    auto expected = TaskPhase::posted;
    return phase_.compare_exchange_strong(expected, to, sync::edge("phase:start", sync::seq_cst),
                                          sync::relaxed);
    // relaxed: a failed start reads nothing the aborter wrote.
  }
  bool leave_started(TaskPhase to) noexcept {
    auto expected = TaskPhase::started;
    // Failure is ordered too: the aborter's rejection happened before this late finish.
    return phase_.compare_exchange_strong(expected, to, sync::edge("phase:finish", sync::acq_rel),
                                          sync::edge("phase:observe", sync::acquire));
  }
  bool claim(TaskPhase& seen, TaskPhase to) noexcept {
    return phase_.compare_exchange_strong(seen, to, sync::edge("phase:claim", sync::seq_cst),
                                          sync::edge("phase:observe", sync::acquire));
  }
};

/// A registration with a signal: the abort steps of a task, a listener, or the link of a dependent
/// signal. It is a node of the signal's registry.
struct Registration {
  enum class Kind : std::uint8_t { task, listener, dependent };
  struct Ops {
    /// Takes the right to act on the registration in this abort or dispatch. False: it is dead, or
    /// somebody took the right already.
    bool (*claim)(Registration&) noexcept;
    /// True once it will never act again; it may then be unlinked.
    bool (*is_dead)(const Registration&) noexcept;
    /// Drops the registry's share of the memory, unless a claim has taken that over.
    void (*forget)(Registration&) noexcept;
    Kind kind;
    /// Called by the claimer before it returns from the registry's close: if the claim has taken
    /// over the registry's share, gives the registry one of its own. Null: no claim does that.
    void (*restore_share)(Registration&) noexcept = nullptr;
  };

  constexpr explicit Registration(const Ops& table) noexcept : ops(&table) {}
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  sync::atomic<Registration*> older{nullptr};  ///< next in the registry
  Registration* chain = nullptr;               ///< in a claimed chain, or among the unlinked dead
  const Ops* ops;
};

class ControlledTask;

/// What a task has because of its signals: the abort steps, and its place in a queue that moves. It
/// is in the task's node. Tasks without signals do without it.
///
/// Edge contents: take, return -> take. The second one finds the callback destroyed, or the signal
///         still there.
struct HEIST_EXPORT SignalLinks : Registration {
  explicit SignalLinks(ControlledTask& of) noexcept : Registration(abort_steps), task(of) {}

  ControlledTask& task;
  SignalCore* signal = nullptr;  ///< owned reference to the abort source, or null
  SignalPort* port = nullptr;    ///< the signal's for this home; lives as long as the signal
  SignalQueueEntryOwner cell;    ///< stealable and dynamic: in its signal's queue, or to be

  /// Shares of the node's memory: the task's own, and the registry's.
  RefCount memory{1};

  /// For an aborted stealable task: returns true to the one caller that must destroy its callback
  /// and leave its signal.
  [[nodiscard]] bool take_contents() noexcept {
    return !contents_taken_.exchange(true, sync::edge("contents:take", sync::acq_rel));
  }
  /// Called by a holder that had taken the contents only to keep the signal. If the task was
  /// aborted meanwhile, its pick disposes of them.
  void return_contents() noexcept {
    contents_taken_.store(false, sync::edge("contents:return", sync::release));
  }
  bool is_withdrawn = false;  ///< the keeper took the task out of the wheel
  /// Whether an aborter has taken over the registry's share. The walker that closes the registry
  /// writes it. If it leaves the closed list to a pruner, that one reads it afterwards.
  bool share_is_taken = false;
  /// For a continuation whose priority may change: whether the signal that it follows is also its
  /// abort source.
  bool has_one_signal = false;

 private:
  static const Registration::Ops abort_steps;

  sync::atomic<bool> contents_taken_{false};
};

/// A task with a signal or with a promise. An abort may claim it, or a close.
class HEIST_EXPORT ControlledTask : public SchedulerTask {
 public:
  /// `of_signals` is null if the task has no signals.
  ControlledTask(const TaskOps& table, SignalLinks* of_signals) noexcept
      : SchedulerTask(table, true), links(of_signals) {}

  [[nodiscard]] static ControlledTask& of(SchedulerTask& task) noexcept {
    return static_cast<ControlledTask&>(task);
  }
  [[nodiscard]] const TaskOps& task_ops() const noexcept {
    return *static_cast<const TaskOps*>(SchedulerTask::ops);
  }
  /// The abort source, or null.
  [[nodiscard]] SignalCore* signal() const noexcept {
    return links != nullptr ? links->signal : nullptr;
  }

  SignalLinks* const links;
};

/// `run` of a task with a promise: start, callback, checkpoint, settle, checkpoint (lifetime.md).
HEIST_EXPORT void run_controlled_task(LoopNode& node, LoopCore& loop) noexcept;
/// `run` of a task with a signal and without a promise: start, callback, checkpoint. Nobody can
/// claim its outcome, so neither an abort nor a close finds it while it runs.
HEIST_EXPORT void run_signalled_task(LoopNode& node, LoopCore& loop) noexcept;
/// Called on any agent when a task that had forked has ended: settles it, unless an abort came
/// first.
HEIST_EXPORT void finish_task(ControlledTask& task, TaskOutcome outcome, Reason& error) noexcept;
/// `drop` of every controlled task: it never starts; its promise rejects with AbortError.
HEIST_EXPORT void drop_controlled_task(LoopNode& node) noexcept;

}  // namespace HEIST_NAMESPACE::detail
