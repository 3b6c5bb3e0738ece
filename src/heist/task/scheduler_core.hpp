// SchedulerCore: what a Scheduler handle names, and what it keeps while it is suspended.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/sync.hpp>
#include <heist/priority.hpp>
#include <memory>
#include <utility>

#include "held_nodes.hpp"
#include "scheduler_delays.hpp"
#include "task_queues.hpp"

namespace HEIST_NAMESPACE::detail {

class TaskHome;

/// Holds what agents of a cluster have taken from the queues while its scheduler was suspended.
///
/// Roles   suspender: any thread.  agent: a member that has picked one of the scheduler's tasks.
///         holder: one thread at a time. It is the keeper, which takes out what was aborted, a
///         portion at a time, or a thread that publishes everything.
/// States  newest_: what was held back since a holder last looked.  nodes_: what a holder has seen.
/// I1      Only the holder touches nodes_ and aborts_before_.
/// I2      Aborted tasks leave. A pass begins at the latest when more tasks have been aborted,
///         since the last pass began, than half of the nodes that it left. So a pass costs O(1) for
///         each abort that led to it and for each node that came since, and when all tasks were
///         aborted nothing is held (ABT-4, ABT-5).
/// Why     An agent holds a task back, then looks again whether the scheduler is suspended. Whoever
///         resumes the scheduler looks afterwards what is held. The later of the two publishes the
///         task, or finds a holder, which looks at both again after its end.
///         An agent reads aborts_, looks whether its task is aborted, holds it back, and reads
///         aborts_ again. Whoever learns of an abort counts it, then sweeps. If the sweep came too
///         early for the task, the agent sees that the count has changed. Whoever counts finds that
///         a sweep pays, or finds a holder, which looks again after its end.
///         All these accesses are seq_cst.
/// Edge hold: push -> take. Carries the tasks.
/// Edge hold: end -> begin. Carries nodes_.
/// Edge hold: push, resume <-> suspended, take. Hold, then look whether it is suspended; resume,
///         then look what is held.
/// Edge hold: end <-> begin, push, resume. End, then look what is held and whether it is suspended;
///         push or resume, then look whether there is a holder.
/// Edge hold: abort <-> look. The count, and what is held.
/// Progress  lock-free. If a holder is stopped, what it has in hand waits for it, and so does what
///         is held back meanwhile.
/// Proof   stress/model/models/cluster_suspension.cpp, stress/held_stress.cpp
class SuspendedTasks {
 public:
  /// Both return the number of this change; the first is 1. If several threads suspend and resume,
  /// the last change decides.
  std::uint64_t suspend() noexcept { return change(true); }
  std::uint64_t resume() noexcept { return change(false); }
  [[nodiscard]] bool is_suspended() const noexcept {
    return changes_.load(sync::edge("hold:suspended", sync::seq_cst)) % 2 == 1;
  }
  void push(LoopNode& node) noexcept {
    LoopNode* old = newest_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    do {
      node.next = old;
    } while (!newest_.compare_exchange_weak(old, &node, sync::edge("hold:push", sync::seq_cst),
                                            sync::relaxed));  // relaxed: a failure only retries.
  }
  /// Whether nothing is held but what a holder has in hand.
  [[nodiscard]] bool empty() const noexcept {
    return !has_nodes_.load(sync::edge("hold:look", sync::seq_cst)) &&
           newest_.load(sync::edge("hold:look", sync::seq_cst)) == nullptr;
  }

  /// Counts a task that was aborted and may be held. The caller has to look at wants_sweep() then.
  void count_abort() noexcept { aborts_.fetch_add(1, sync::edge("hold:abort", sync::seq_cst)); }
  [[nodiscard]] std::uint64_t aborts() const noexcept {
    return aborts_.load(sync::edge("hold:look", sync::seq_cst));
  }
  /// Whether a pass is worth it, or under way.
  [[nodiscard]] bool wants_sweep() const noexcept {
    return aborts() >= sweep_at_.load(sync::edge("hold:look", sync::seq_cst)) && !empty();
  }

  /// Makes the caller the holder. Returns false when there is one, which looks again after its end.
  [[nodiscard]] bool try_begin() noexcept {
    return !is_taken_.exchange(true, sync::edge("hold:begin", sync::seq_cst));
  }
  /// Called by the holder, which then looks again whether all has to be published, and whether a
  /// sweep is worth it.
  void end() noexcept {
    has_nodes_.store(!nodes_.empty(), sync::edge("hold:end", sync::seq_cst));
    is_taken_.store(false, sync::edge("hold:end", sync::seq_cst));
  }
  /// Called by the holder: begins a pass, or goes on with one, through `nodes` nodes. It drops
  /// those for which `is_dead` is true.
  template <class IsDead, class Drop>
  void sweep(unsigned nodes, IsDead&& is_dead, Drop&& drop) noexcept {
    if (!nodes_.is_in_pass()) begin_pass();
    if (!nodes_.go_on(nodes, is_dead, drop)) sweep_from(aborts_before_ + nodes_.left() / 2 + 1);
  }
  /// Called by the holder: takes all nodes out, oldest first.
  template <class Visit>
  void take_all(Visit&& visit) noexcept {
    sweep_from(aborts() + 1);
    nodes_.take_all(take_newest(), visit);
  }

 private:
  void begin_pass() noexcept {
    aborts_before_ = aborts();
    sweep_from(0);
    nodes_.begin_pass(take_newest());
  }
  void sweep_from(std::uint64_t aborts) noexcept {
    sweep_at_.store(aborts, sync::edge("hold:end", sync::seq_cst));
  }
  [[nodiscard]] LoopNode* take_newest() noexcept {
    return newest_.exchange(nullptr, sync::edge("hold:take", sync::seq_cst));
  }
  std::uint64_t change(bool suspends) noexcept {
    std::uint64_t old = changes_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    std::uint64_t next = 0;
    do {
      next = (old / 2 + 1) * 2 + (suspends ? 1 : 0);
    } while (!changes_.compare_exchange_weak(old, next, sync::edge("hold:resume", sync::seq_cst),
                                             sync::relaxed));  // relaxed: a failure only retries.
    return next / 2;
  }

  sync::atomic<std::uint64_t> changes_{0};  ///< twice their number, and 1 more while suspended
  sync::atomic<bool> is_taken_{false};
  sync::atomic<bool> has_nodes_{false};
  sync::atomic<LoopNode*> newest_{nullptr};
  sync::atomic<std::uint64_t> aborts_{0};  ///< of its scheduler's tasks, held or not
  /// How many aborts make a pass worth it; 0 while one is under way.
  sync::atomic<std::uint64_t> sweep_at_{1};
  HeldNodes nodes_;
  std::uint64_t aborts_before_ = 0;  ///< when the pass began
};

/// A source of tasks of one home, which owns it. `suspended`, `last_change`, `held` and `delays`
/// belong to the loop's agent, in a cluster to the keeper.
///
/// Edge ceiling: make -> find. Carries the scheduler.
struct SchedulerCore {
  explicit SchedulerCore(TaskHome& owner) noexcept : home(owner) {}
  SchedulerCore(const SchedulerCore&) = delete;
  SchedulerCore& operator=(const SchedulerCore&) = delete;
  ~SchedulerCore();

  /// Called by any thread: returns the scheduler whose tasks have no priority above `highest`, nor
  /// above that of this one's tasks.
  /// Errors: std::bad_alloc.
  [[nodiscard]] SchedulerCore& with_ceiling(TaskPriority highest);
  /// The priority that the scheduler's tasks get when they ask for `asked` (SEC-1).
  [[nodiscard]] TaskPriority capped(TaskPriority asked) const noexcept {
    return std::min(asked, ceiling);
  }
  /// Visits this scheduler, and those that with_ceiling() has made of it.
  template <class Visit>
  void each(Visit&& visit) {
    visit(*this);
    for (auto& place : lower_) {
      if (auto* lower = place.load(sync::edge("ceiling:find", sync::acquire))) visit(*lower);
    }
  }

  TaskHome& home;
  const TaskPriority ceiling = TaskPriority::user_blocking;
  bool suspended = false;
  std::uint64_t last_change = 0;  ///< the latest of SuspendedTasks that the keeper has heard of
  TaskFifo held;  ///< picked while it was suspended; those of one queue are in enqueue order
  std::unique_ptr<SchedulerDelays> delays;  ///< made for the first suspension
  SuspendedTasks held_stealable;            ///< a cluster's: the same for its stealable tasks

  /// Called by any thread before it suspends: makes what the first suspension needs. Returns null
  /// when that was made already.
  /// Errors: std::bad_alloc.
  [[nodiscard]] std::unique_ptr<SchedulerDelays> make_delays() const {
    // relaxed: if one too many is made, it is thrown away.
    return has_delays_.load(sync::relaxed) ? nullptr : std::make_unique<SchedulerDelays>();
  }
  void set_delays(std::unique_ptr<SchedulerDelays> made) noexcept {
    if (delays || !made) return;
    delays = std::move(made);
    delays->wake.scheduler = this;
    has_delays_.store(true, sync::relaxed);  // relaxed: as above.
  }

 private:
  SchedulerCore(SchedulerCore& from, TaskPriority highest) noexcept
      : home(from.home), ceiling(highest), base_(&from) {}

  sync::atomic<bool> has_delays_{false};
  SchedulerCore* base_ = this;                           ///< the scheduler that owns this one
  std::array<sync::atomic<SchedulerCore*>, 2> lower_{};  ///< those of lower ceilings, by ceiling
};

}  // namespace HEIST_NAMESPACE::detail
