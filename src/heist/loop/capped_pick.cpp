// Picks of a loop with a continuation cap (contract YLD-6).
#include "cluster_hub.hpp"
#include "loop_core.hpp"

namespace heist {

/// Continuations that have gone first for the whole cap let one task of their priority pass (YLD-6).
SchedulerTask* LoopCore::pop_capped() noexcept {
  auto& agent = on_agent();
  auto& run = agent.continuations;
  const auto now = time_.now();
  int level = agent.queues.top_level();
  const bool passes = level == run.level() && run.has_lasted(continuation_cap_, now) &&
                      agent.queues.has_tasks_at(run.level_of_tasks());
  if (passes) level = run.level_of_tasks();
  run.note_pick(level, now);
  return agent.queues.pop_from(level);
}

/// The same in a cluster, where each agent goes by its own picks. Null: pop_capped() has the next one, if any.
LoopNode* LoopCore::pick_stealable_capped() noexcept {
  auto& agent = on_agent();
  auto& run = agent.continuations;
  ClusterHub& hub = *member_.hub;
  const int tasks = run.level_of_tasks();
  const bool is_first = agent.queues.top_level() <= run.level() && !hub.may_have_above(run.level());
  LoopNode* node = nullptr;
  if (is_first && run.has_lasted(continuation_cap_, time_.now())) {
    const bool has_bound = agent.queues.has_tasks_at(tasks);
    if (!has_bound || !run.is_bounds_turn()) node = hub.pick_at(*this, tasks);
    if (node == nullptr && has_bound) return nullptr;
  }
  if (node == nullptr) node = hub.pick(*this, agent.queues.top_level());
  if (node != nullptr) run.note_pick(hub.picked_level(*this), time_.now());
  return node;
}

}  // namespace heist
