#include "pick_policy.hpp"

namespace HEIST_NAMESPACE::detail {

SchedulerTask* PickPolicy::pop(TaskQueues& queues, std::uint64_t next_order) noexcept {
  const auto at = now();
  int level = find_late(queues, at, next_order).level;
  if (level < 0) {
    level = queues.top_level();
    const bool passes =
        level == run_.level() && has_pass(at) && queues.has_tasks_at(run_.level_of_tasks());
    if (passes) level = run_.level_of_tasks();
  }
  run_.note_pick(level, at);
  return queues.pop_from(level);
}

}  // namespace HEIST_NAMESPACE::detail
