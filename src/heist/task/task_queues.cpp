#include "task_queues.hpp"
#include <heist/detail/levels.hpp>

#include <utility>

namespace HEIST_NAMESPACE::detail {

void TaskFifo::insert_by_age(SchedulerTask& task) noexcept {
  LoopNode* younger = head_;
  while (younger != nullptr && younger->key < task.key) younger = younger->next;
  if (younger == nullptr) return push_back(task);
  task.next = younger;
  task.prev = younger->prev;
  (task.prev != nullptr ? task.prev->next : head_) = &task;
  younger->prev = &task;
}

void TaskQueues::push_dynamic(SchedulerTask& task, DynamicQueue& queue, int level) noexcept {
  const bool was_empty = queue.tasks.empty();
  task.place = TaskPlace::queued;
  task.level = static_cast<std::uint8_t>(level);
  queue.tasks.push_back(task);
  ++counts(level).pushed;
  if (was_empty) enter(queue, level);
}

void TaskQueues::restore(SchedulerTask& task) noexcept {
  const int level = task.static_level();
  task.place = TaskPlace::queued;
  at(level).fifo.insert_by_age(task);
  mark(level);
  ++counts(level).pushed;
}

void TaskQueues::restore(SchedulerTask& task, DynamicQueue& queue, int level) noexcept {
  if (queue.tasks.empty()) return push_dynamic(task, queue, level);
  const int stands_at = queue.level();
  task.place = TaskPlace::queued;
  task.level = static_cast<std::uint8_t>(stands_at);
  queue.tasks.insert_by_age(task);
  ++counts(stands_at).pushed;
  if (queue.tasks.front() == &task) change_first(queue, stands_at);
}

/// To be called when the queue at `level` has another first task.
void TaskQueues::change_first(DynamicQueue& queue, int level) noexcept {
  set_level(*queue.tasks.front(), level);
  at(level).dynamic.changed(queue);
}

std::size_t TaskQueues::size() const noexcept {
  std::size_t come = 0;
  std::size_t gone = 0;
  for (const Level& level : levels_) gone += level.counts.taken;
  for (const Level& level : levels_) come += level.counts.pushed;
  return come > gone ? come - gone : 0;
}

void TaskQueues::set_level(SchedulerTask& first, int level) noexcept {
  if (first.level == level) return;
  ++counts(first.level).moved_out;
  ++counts(level).moved_in;
  first.level = static_cast<std::uint8_t>(level);
}

void TaskQueues::enter(DynamicQueue& queue, int level) noexcept {
  set_level(*queue.tasks.front(), level);
  at(level).dynamic.insert(queue);
  mark(level);
}

/// Takes all dynamic queues out of their indexes, and links them by `sibling`.
DynamicQueue* TaskQueues::take_dynamic() noexcept {
  DynamicQueue* all = nullptr;
  for (int level = 0; level < level_count; ++level) {
    while (DynamicQueue* queue = at(level).dynamic.top()) {
      at(level).dynamic.erase(*queue);
      queue->sibling = std::exchange(all, queue);
    }
    unmark_if_empty(level);
  }
  return all;
}

void TaskQueues::erase_from(DynamicQueue& queue, SchedulerTask& task) noexcept {
  const bool was_first = queue.tasks.front() == &task;
  const int level = queue.level();
  if (was_first && task.next == nullptr) {
    // It is the last task, so the queue leaves the index. The entry is this queue's own (ORD-6).
    at(level).dynamic.erase(queue);
    queue.tasks.erase(task);
    return unmark_if_empty(level);
  }
  queue.tasks.erase(task);
  if (was_first) change_first(queue, level);
}

void TaskQueues::move(DynamicQueue& queue, int level) noexcept {
  if (queue.tasks.empty() || queue.level() == level) return;
  at(queue.level()).dynamic.erase(queue);
  unmark_if_empty(queue.level());
  enter(queue, level);
}

}  // namespace HEIST_NAMESPACE::detail
