#include "task_queues.hpp"

#include <utility>

namespace heist {

namespace {

bool older(const DynamicQueue& a, const DynamicQueue& b) noexcept {
  return a.tasks.front()->key < b.tasks.front()->key;
}

}  // namespace

void TaskFifo::insert_by_age(SchedulerTask& task) noexcept {
  LoopNode* younger = head_;
  while (younger != nullptr && younger->key < task.key) younger = younger->next;
  if (younger == nullptr) return push_back(task);
  task.next = younger;
  task.prev = younger->prev;
  (task.prev != nullptr ? task.prev->next : head_) = &task;
  younger->prev = &task;
}

DynamicQueue* QueueIndex::meld(DynamicQueue* a, DynamicQueue* b) noexcept {
  if (a == nullptr) return b;
  if (b == nullptr) return a;
  if (older(*b, *a)) std::swap(a, b);
  b->previous = a;
  b->sibling = a->child;
  if (a->child != nullptr) a->child->previous = b;
  a->child = b;
  return a;
}

DynamicQueue* QueueIndex::meld_siblings(DynamicQueue* first) noexcept {
  // Pairs from the left, collected in reverse; then all pairs from the right.
  DynamicQueue* pairs = nullptr;
  while (first != nullptr) {
    DynamicQueue* a = first;
    DynamicQueue* b = a->sibling;
    first = b != nullptr ? b->sibling : nullptr;
    a->sibling = nullptr;
    if (b != nullptr) b->sibling = nullptr;
    DynamicQueue* pair = meld(a, b);
    pair->sibling = pairs;
    pairs = pair;
  }
  DynamicQueue* root = nullptr;
  while (pairs != nullptr) {
    DynamicQueue* rest = std::exchange(pairs->sibling, nullptr);
    root = meld(root, pairs);
    pairs = rest;
  }
  if (root != nullptr) root->previous = nullptr;
  return root;
}

void QueueIndex::insert(DynamicQueue& queue) noexcept {
  queue.child = queue.sibling = queue.previous = nullptr;
  root_ = meld(root_, &queue);
}

void QueueIndex::erase(DynamicQueue& queue) noexcept {
  if (&queue == root_) {
    root_ = meld_siblings(queue.child);
  } else {
    (queue.previous->child == &queue ? queue.previous->child : queue.previous->sibling) =
        queue.sibling;
    if (queue.sibling != nullptr) queue.sibling->previous = queue.previous;
    root_ = meld(root_, meld_siblings(queue.child));
  }
  queue.child = queue.sibling = queue.previous = nullptr;
}

void QueueIndex::first_changed(DynamicQueue& queue) noexcept {
  if (&queue == root_ && queue.child == nullptr) return;
  erase(queue);
  insert(queue);
}

void TaskQueues::push(SchedulerTask& task, DynamicQueue& queue, int level) noexcept {
  const bool was_empty = queue.tasks.empty();
  task.place = TaskPlace::queued;
  queue.tasks.push_back(task);
  ++size_;
  if (was_empty) enter(queue, level);
}

void TaskQueues::restore(SchedulerTask& task) noexcept {
  const int level = task.static_level();
  task.place = TaskPlace::queued;
  at(level).fifo.insert_by_age(task);
  mark(level);
  ++size_;
}

void TaskQueues::restore(SchedulerTask& task, DynamicQueue& queue, int level) noexcept {
  if (queue.tasks.empty()) return push(task, queue, level);
  task.place = TaskPlace::queued;
  queue.tasks.insert_by_age(task);
  ++size_;
  if (queue.tasks.front() == &task) at(queue.level).dynamic.first_changed(queue);
}

void TaskQueues::enter(DynamicQueue& queue, int level) noexcept {
  queue.level = level;
  at(level).dynamic.insert(queue);
  mark(level);
}

/// All dynamic queues, taken out of their indexes and linked by `sibling`.
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
  auto& index = at(queue.level).dynamic;
  if (was_first && task.next == nullptr) {
    // The last one: the queue leaves its index, the entry being this queue's own (ORD-6).
    index.erase(queue);
    queue.tasks.erase(task);
    return unmark_if_empty(queue.level);
  }
  queue.tasks.erase(task);
  if (was_first) index.first_changed(queue);
}

void TaskQueues::move(DynamicQueue& queue, int level) noexcept {
  if (queue.tasks.empty() || queue.level == level) return;
  at(queue.level).dynamic.erase(queue);
  unmark_if_empty(queue.level);
  enter(queue, level);
}

}  // namespace heist
