#include <heist/task_source.hpp>
#include <stdexcept>

#include "loop_core.hpp"

namespace HEIST_NAMESPACE::detail {

void check_source(TaskSource source) {
  if (static_cast<std::size_t>(source) >= task_source_count) {
    throw std::invalid_argument("queue_task: the value is not a TaskSource");
  }
}

/// The loop may be destroyed as soon as the task has run.
bool queue_plain_task(LoopCore& loop, SchedulerTask& task) noexcept {
  const auto kept = keep_while_posting(loop);
  task.scheduler = &loop.plain_source();
  loop.note_posted(task);
  return loop.post_or_drop(task);
}

/// Called while the task runs, so by the loop's agent.
void count_plain_task(LoopCore& loop, TaskSource source) noexcept {
  loop.assert_agent();
  loop.on_agent().current = {};
  loop.counts().count_source(source);
}

}  // namespace HEIST_NAMESPACE::detail
