// Picks of a loop with a continuation cap (contract YLD-6), a maximum wait (contract WAIT), or both.
#include "cluster_hub.hpp"
#include "loop_core.hpp"

namespace heist {

/// In a cluster by the cluster's clock, by which tasks are stamped.
std::chrono::nanoseconds LoopCore::picking_time() const noexcept {
  return member_.hub != nullptr ? member_.hub->loop().time_.now() : time_.now();
}

/// Of this loop's own tasks.
LatePick LoopCore::find_late(std::chrono::nanoseconds now) noexcept {
  auto& agent = on_agent();
  return agent.guard ? agent.guard->find(agent.queues, now, agent.next_enqueue_order) : LatePick{};
}

/// What has been late for longest in the cluster, unless one of this loop's own has been so for longer.
LoopNode* LoopCore::take_late_stealable(std::chrono::nanoseconds now,
                                        const LatePick& own) noexcept {
  auto& guard = on_agent().guard;
  if (!guard || !guard->looks().is_due(now)) return nullptr;
  LoopNode* node = member_.hub->take_late(*this, now, own.end);
  guard->looks().end(now, node != nullptr || own.level >= 0);
  return node;
}

/// Whether continuations, which go on, have gone first for the whole cap: then one task of their priority may pass (YLD-6).
bool LoopCore::has_pass(std::chrono::nanoseconds now) noexcept {
  return is_capped() && on_agent().continuations.has_lasted(continuation_cap_, now);
}

/// What is late comes first, then a task that may pass.
SchedulerTask* LoopCore::pop_by_policy() noexcept {
  auto& agent = on_agent();
  auto& run = agent.continuations;
  const auto now = picking_time();
  int level = find_late(now).level;
  if (level < 0) {
    level = agent.queues.top_level();
    const bool passes =
        level == run.level() && has_pass(now) && agent.queues.has_tasks_at(run.level_of_tasks());
    if (passes) level = run.level_of_tasks();
  }
  run.note_pick(level, now);
  return agent.queues.pop_from(level);
}

/// The same in a cluster, where each agent goes by its own picks. Null: pop_by_policy() has the next one, if any.
LoopNode* LoopCore::pick_stealable_by_policy() noexcept {
  auto& agent = on_agent();
  auto& run = agent.continuations;
  ClusterHub& hub = *member_.hub;
  const auto now = picking_time();
  const LatePick own = find_late(now);
  LoopNode* node = take_late_stealable(now, own);
  if (node == nullptr && own.level >= 0) return nullptr;
  const int tasks = run.level_of_tasks();
  const bool is_first = agent.queues.top_level() <= run.level() && !hub.may_have_above(run.level());
  if (node == nullptr && has_pass(now) && is_first) {
    const bool has_bound = agent.queues.has_tasks_at(tasks);
    if (!has_bound || !run.is_bounds_turn()) node = hub.pick_at(*this, tasks);
    if (node == nullptr && has_bound) return nullptr;
  }
  if (node == nullptr) node = hub.pick(*this, agent.queues.top_level());
  if (node != nullptr) run.note_pick(hub.picked_level(*this), now);
  return node;
}

}  // namespace heist
