#include "cluster_upkeep.hpp"

#include <utility>

#include "../signal/signal_core.hpp"
#include "cluster_core.hpp"

namespace HEIST_NAMESPACE::detail {

bool ClusterUpkeep::needs_keeper(TickReader& ticks) const noexcept {
  if (cluster_.has_posts_by_now()) return true;
  const TimerKeeper::Due due = cluster_.keeper().next_due();
  return due != TimerKeeper::never && due <= ticks.now();
}

bool ClusterUpkeep::wants_keeper(TickReader& ticks) const noexcept {
  return needs_keeper(ticks) && !cluster_.keeper().has_keeper();
}

void ClusterUpkeep::notify_watcher(TimerKeeper::Due due) noexcept {
  const auto watch = cluster_.keeper().watch();
  if (due >= watch.until) return;
  if (watch.watcher) return cluster_.sleepers().wake(*watch.watcher);
  cluster_.sleepers().notify(cluster_.near_here());
}

/// One call does only a portion, because upkeep must not keep the agent from its tasks. What comes
/// meanwhile waits for this agent's next pick, or for another agent that is free before that.
ClusterUpkeep::Kept ClusterUpkeep::keep(LoopCore& agent, TickReader& ticks,
                                        Passes passes) noexcept {
  if (!cluster_.keeper().try_begin()) return {};
  take_over();
  if (keeps_more()) {
    time_.go_on(cluster_.time(), [this] {
      take_over();
      return keeps_more();
    });
  }
  pass_rest_to(agent);
  Kept kept;
  kept.has_passed = passes == Passes::portion && pass_portion_to(agent);
  if (!kept.has_passed) kept.limit = take_limit(agent);
  end_keeping(ticks);
  return kept;
}

bool ClusterUpkeep::pass_some_to(LoopCore& agent, TickReader& ticks) noexcept {
  // A keeper that has left something to pass has said that it is due now.
  if (cluster_.keeper().next_due() != now_due || !cluster_.keeper().try_begin()) return false;
  const bool passes = pass_portion_to(agent);
  end_keeping(ticks);
  return passes;
}

bool ClusterUpkeep::collect_aborted(LoopCore& agent, TickReader& ticks) noexcept {
  // The last agent that leaves has passed everything to itself, and keeps the role.
  if (cluster_.closing().is_closed()) return false;
  cluster_.keeper().begin();
  take_over_all();
  pass_rest_to(agent);
  const bool passes = pass_portion_to(agent);
  end_keeping(ticks);
  return passes;
}

/// Gives the role back. What there is still to do, another agent does.
void ClusterUpkeep::end_keeping(TickReader& ticks) noexcept {
  const auto& waiting = cluster_.waiting();
  // relaxed: the keeper's announcement of sleep publishes it.
  holds_delayed_.store(waiting.held() != 0, sync::relaxed);
  const bool goes_on = keeps_more() || !waiting.limits().empty() || last_withdrawn_ != nullptr;
  cluster_.keeper().end(goes_on ? now_due : waiting.delays().next_expiry());
  notify_watcher(needs_keeper(ticks) ? now_due : cluster_.keeper().next_due());
  cluster_.closing().drop_if_left();
}

/// The keeper takes one limit at a time and runs it at once. While its listeners run, other agents
/// take the limits that ended later.
SchedulerTask* ClusterUpkeep::take_limit(LoopCore& agent) noexcept {
  auto& limits = cluster_.waiting().limits();
  const bool is_turn =
      !limits.empty() && agent.on_agent().waiting.limits().begin_pick(agent.counts().run());
  return is_turn ? &limits.pop() : nullptr;
}

/// Takes over a portion of all that waits for the keeper: new limits, the inbox, aborts, held
/// tasks, and delays that are over.
void ClusterUpkeep::take_over() noexcept {
  cluster_.limits_to_arm().arm_some(cluster_.waiting());
  arrive_some();
  cluster_.aborted().take_messages(abort_messages_, cluster_, portion);
  withdraw_some();
  if (std::exchange(sweeps_held_, false)) sweeps_held_ = cluster_.sweep_held();
  cluster_.waiting().expire(
      [this](SchedulerTask& task) noexcept { cluster_.publish_expired(task); }, due_portion);
}

/// Whether one portion was not enough.
bool ClusterUpkeep::keeps_more() const noexcept {
  return !arriving_.empty() || cluster_.limits_to_arm().has_more() ||
         cluster_.aborted().may_have_messages() || first_to_withdraw() != nullptr || sweeps_held_;
}

void ClusterUpkeep::take_over_all() noexcept {
  do take_over();
  while (keeps_more());
}

void ClusterUpkeep::close_inbox() noexcept {
  while (keeps_more()) take_over();
  for (LoopNode* node = inbox_.close(); node != nullptr;) {
    arrive(*std::exchange(node, node->next));
  }
  cluster_.limits_to_arm().close(cluster_.waiting());
  auto& aborted = cluster_.aborted();
  aborted.close_messages(abort_messages_, cluster_);
  if (aborted.first_of_chain() != nullptr) last_withdrawn_ = aborted.last_of_chain();
}

/// Takes the inbox, puts it into the order of the posts, and accepts a portion of its nodes.
void ClusterUpkeep::arrive_some() noexcept {
  if (arriving_.empty()) arriving_ = inbox_.take_nodes();
  arriving_.arrive_some(turned_portion, portion, [this](LoopNode& node) noexcept { arrive(node); });
}

/// Accepts a delayed task, or a message.
void ClusterUpkeep::arrive(LoopNode& node) noexcept {
  if (node.ops->kind == LoopNodeKind::message) return take_message(node, cluster_);
  auto& task = static_cast<SchedulerTask&>(node);
  task.is_aborted() ? cluster_.aborted().discard(task) : cluster_.waiting().arm(task);
}

/// The first aborted task that the keeper has not looked for in the wheel yet.
Registration* ClusterUpkeep::first_to_withdraw() const noexcept {
  return last_withdrawn_ != nullptr ? last_withdrawn_->chain : cluster_.aborted().first_of_chain();
}

/// Takes a portion of the aborted tasks out of the wheel, before their callbacks are destroyed:
/// none of them may come due without its contents.
void ClusterUpkeep::withdraw_some() noexcept {
  Registration* const first = first_to_withdraw();
  Registration* at = first;
  for (unsigned left = portion; at != nullptr && left > 0; --left, at = at->chain) {
    auto& links = *static_cast<SignalLinks*>(at);
    links.is_withdrawn = cluster_.waiting().withdraw(links.task);
    last_withdrawn_ = &links;
  }
  if (first == at) return;
  cluster_.count_aborts(first, at);
  sweeps_held_ = true;
}

bool ClusterUpkeep::pass_portion_to(LoopCore& agent) noexcept {
  if (last_withdrawn_ == nullptr) return false;
  SignalLinks* const last = cluster_.aborted().last_of_portion(last_withdrawn_);
  cluster_.aborted().pass_chain_to(agent.aborted(), *last);
  if (last == last_withdrawn_) last_withdrawn_ = nullptr;
  return true;
}

void ClusterUpkeep::pass_rest_to(LoopCore& agent) noexcept {
  cluster_.aborted().pass_rest_to(agent.aborted());
  agent.note_leftovers();
}

void ClusterUpkeep::pass_all_to(LoopCore& agent) noexcept {
  if (last_withdrawn_ != nullptr)
    cluster_.aborted().pass_chain_to(agent.aborted(), *std::exchange(last_withdrawn_, nullptr));
  pass_rest_to(agent);
}

void ClusterUpkeep::take_waiting(TaskFifo& into) noexcept {
  auto& waiting = cluster_.waiting();
  while (!waiting.limits().empty()) into.push_back(waiting.limits().pop());
  const auto take = [&](SchedulerTask& task) noexcept { into.push_back(task); };
  cluster_.first_scheduler().each(
      [&](SchedulerCore& scheduler) noexcept { waiting.drain_delayed(scheduler, take); });
  waiting.drain_delays(take);
}

}  // namespace HEIST_NAMESPACE::detail
