// Suspending a stealable scheduler: agents set its tasks aside as they come up (SUS-1).
#include <cstdint>
#include <heist/promise_state.hpp>
#include <new>
#include <utility>

#include "cluster_hub.hpp"
#include "signal_core.hpp"

namespace heist {

namespace {

/// Null: it is part of a task that runs.
SchedulerCore* scheduler_of(LoopNode& node) noexcept {
  if (node.ops->kind == LoopNodeKind::forked) return nullptr;
  if (node.ops->kind == LoopNodeKind::task) return static_cast<SchedulerTask&>(node).scheduler;
  return static_cast<Reaction&>(node).captured.state().scheduler;
}

bool is_aborted(const LoopNode& node) noexcept {
  return node.ops->kind == LoopNodeKind::task &&
         static_cast<const SchedulerTask&>(node).is_aborted();
}

}  // namespace

std::uint64_t ClusterHub::suspend(SchedulerCore& scheduler) noexcept {
  may_be_suspended_.store(true, sync::edge("hold:resume", sync::seq_cst));
  return scheduler.stealable.suspend();
}

std::uint64_t ClusterHub::resume(SchedulerCore& scheduler) noexcept {
  const auto change = scheduler.stealable.resume();
  publish_held(scheduler.stealable);
  drop_if_closed();
  return change;
}

/// An agent that has picked it. True: it is not to run now.
bool ClusterHub::hold_back(LoopNode& node) noexcept {
  SchedulerCore* scheduler = scheduler_of(node);
  if (scheduler == nullptr || !scheduler->stealable.is_suspended()) return false;
  StealableHold& hold = scheduler->stealable;
  const auto aborts = hold.aborts();
  if (is_aborted(node)) return false;  // the pick discards it
  hold.push(node);
  if (!hold.is_suspended()) publish_held(hold);
  if (hold.aborts() != aborts) {
    hold.count_abort();  // perhaps its own, for which it came too late
    if (hold.wants_sweep()) ask_for_sweep();
  }
  return true;
}

// Sweeping.

ClusterHub::SweepMessage::SweepMessage(ClusterHub& asked) noexcept : LoopNode(table), hub(asked) {}

const LoopNodeOps ClusterHub::SweepMessage::table{LoopNodeKind::message, &take, &lose};

void ClusterHub::SweepMessage::take(LoopNode& node, LoopCore& /*loop*/) noexcept {
  ClusterHub& hub = static_cast<SweepMessage&>(node).hub;
  hub.sweep_asked_.exchange(false, sync::edge("hold:asked", sync::seq_cst));
  hub.sweeps_held_ = true;
}

void ClusterHub::SweepMessage::lose(LoopNode& /*node*/) noexcept {}

void ClusterHub::ask_for_sweep() noexcept {
  if (!sweep_asked_.exchange(true, sync::edge("hold:ask", sync::seq_cst)))
    loop_.send(sweep_message_);
}

/// The keeper takes out what was aborted, a portion of each scheduler's at a time.
void ClusterHub::sweep_held() noexcept {
  if (!sweeps_held_) return;
  sweeps_held_ = false;
  loop_.first_scheduler().each([this](SchedulerCore& scheduler) noexcept {
    StealableHold& hold = scheduler.stealable;
    if (!hold.wants_sweep() || !hold.try_begin()) return;
    hold.sweep(keeper_portion, &is_aborted, [this](LoopNode& node) noexcept {
      loop_.assert_agent();
      loop_.discard(static_cast<SchedulerTask&>(node));
    });
    hold.end();
    publish_held(hold);
    if (hold.wants_sweep()) sweeps_held_ = true;
  });
}

/// The keeper: those in the queues leave them when that pays, those of a suspended scheduler what is held back.
void ClusterHub::count_aborts(const Registration* first, const Registration* end) noexcept {
  if (first == end) return;
  std::int64_t in_queues = 0;
  for (; first != end; first = first->chain) {
    const auto& task = static_cast<const ControlledTask&>(*first);
    if (task.is_withdrawn) continue;
    task.scheduler->stealable.count_abort();
    if (!task.is_dynamic) ++in_queues;
  }
  sweep_.count_aborts(in_queues);
  sweeps_held_ = true;
}

void ClusterHub::sweep_some(LoopCore& agent) noexcept {
  SweepPlace* place = sweep_.try_begin();
  if (place == nullptr) return;
  auto& discarded = agent.on_agent().discarded;
  const auto drop = [&](LoopNode& node) noexcept {
    discarded.push_back(static_cast<SchedulerTask&>(node));
  };
  sweep_.end(queues_.sweep(agent.member_.index, *place, swept_portion, &is_aborted, drop));
}

bool ClusterHub::take_back(ControlledTask& task) noexcept {
  if (!task.cell || !task.cell->try_take_back()) return false;
  sweep_.count_aborts(1);  // of its cell
  return true;
}

// Publishing.

/// Any thread, after a resume, or when the cluster closes.
void ClusterHub::publish_held(StealableHold& hold) noexcept {
  bool has_published = false;
  while (is_free(hold) && !hold.empty() && hold.try_begin()) {
    hold.take_all([this](LoopNode& node) noexcept {
      node.ops->kind == LoopNodeKind::task ? publish_held(static_cast<SchedulerTask&>(node))
                                           : publish_held(static_cast<Reaction&>(node));
    });
    hold.end();
    has_published = true;
  }
  if (has_published && hold.wants_sweep())
    ask_for_sweep();  // the keeper leaves a sweep to whoever is at it
}

bool ClusterHub::is_free(const StealableHold& hold) const noexcept {
  return !hold.is_suspended() || drops_.load(sync::edge("hub:post", sync::seq_cst));
}

/// Its place in the queue that moves with a signal was used up when it was picked.
void ClusterHub::publish_held(SchedulerTask& task) noexcept {
  if (!task.is_dynamic || task.is_aborted()) return publish(task, task.static_level());
  auto& dynamic = ControlledTask::of(task);
  // Whose contents are taken has been aborted: it only wants to be picked, and disposed of.
  if (!dynamic.take_contents()) return publish(task, task.static_level());
  const int level = give_place(dynamic.cell, priority_part_of(dynamic), task, task.is_continuation);
  // The signal may go with the contents.
  const auto pair = Ref<SharedPair>::share(dynamic.cell ? &dynamic.cell->pair : nullptr);
  dynamic.return_contents();
  dynamic.cell ? publish_runnable(task) : publish(task, level);
}

void ClusterHub::publish_held(Reaction& reaction) noexcept {
  const SchedulingState& state = reaction.captured.state();
  SignalCore* source = state.priority_source;
  if (source == nullptr) return publish_continuation(reaction);
  // Found, as it was there when the reaction was bound.
  const int level =
      give_place(reaction.cell, source->part_for(*state.scheduler).priority_part(), reaction, true);
  reaction.cell ? publish_continuation(reaction) : publish(reaction, level);
}

/// Without memory for a place it stands at its level of now, for good.   Returns that level.
int ClusterHub::give_place(SharedCellOwner& cell, SignalLoop& part, LoopNode& node,
                           bool is_continuation) noexcept {
  cell.reset();  // used up
  try {
    cell.reset(make_cell(part, node, is_continuation));
  } catch (const std::bad_alloc&) {
  }
  return effective_priority(part.priority(), is_continuation);
}

}  // namespace heist
