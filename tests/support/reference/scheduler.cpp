#include "support/reference/scheduler.hpp"

#include <algorithm>
#include <vector>

namespace heist::reference {

namespace {

/// The effective priority, from 0 to 5, as in the third column of the specification's table.
int effective_priority(const SchedulerTaskQueue& queue) {
  return 2 * static_cast<int>(queue.priority) + (queue.is_continuation ? 1 : 0);
}

void run_removal_steps_if_empty(SchedulerTaskQueue& queue) {
  if (queue.tasks.empty()) queue.removal_steps();
}

}  // namespace

Promise& Scheduler::post_task(const PostTaskOptions& options, const Callback& callback) {
  Promise& result = promises_.create();
  const auto state = compute_state({false, options.signal}, {false, options.priority});
  Signal* const signal = state.abort_source;
  if (signal != nullptr && signal->aborted()) {
    promises_.reject(result, *signal->abort_reason);
    return result;
  }
  TaskHandle& handle = create_task_handle(result, signal);
  const auto enqueue_steps = [this, state, &handle, callback] {
    handle.queue = &select_queue(*state.priority_source, false);
    schedule(handle, [this, state, &handle, callback] {
      agent_.set_current_state(state);
      Completion completion;
      agent_.invoke([&] { completion = callback(); });
      promises_.complete(*handle.result, completion);
      agent_.set_current_state({});
    });
  };
  if (options.delay == 0) {
    enqueue_steps();
  } else {
    time_.run_after(options.delay, [signal, enqueue_steps] {
      if (signal == nullptr || !signal->aborted()) enqueue_steps();
    });
  }
  return result;
}

/// Without options, signal and priority are both "inherit".
Promise& Scheduler::yield() {
  Promise& result = promises_.create();
  const auto state = compute_state({true}, {true});
  Signal* const signal = state.abort_source;
  if (signal != nullptr && signal->aborted()) {
    promises_.reject(result, *signal->abort_reason);
    return result;
  }
  TaskHandle& handle = create_task_handle(result, signal);
  handle.queue = &select_queue(*state.priority_source, true);
  schedule(handle, [this, &result] {
    promises_.complete(result, Completion(Outcome{false, "undefined"}));
  });
  return result;
}

/// Spec: compute the scheduling state from options.
SchedulingState Scheduler::compute_state(const Option<Signal*>& signal,
                                         const Option<std::optional<Priority>>& priority) {
  const SchedulingState& inherited = agent_.current_state();
  SchedulingState result;
  result.abort_source = signal.is_inherit ? inherited.abort_source : signal.value;
  if (priority.is_inherit) {
    result.priority_source = inherited.priority_source;
  } else if (priority.value) {
    result.priority_source = &signals_.create_fixed_priority_unabortable(*priority.value);
  } else if (signal.value != nullptr && signal.value->is_task_signal) {
    result.priority_source = signal.value;
  }
  if (result.priority_source == nullptr) {
    result.priority_source = &signals_.create_fixed_priority_unabortable(Priority::user_visible);
  }
  return result;
}

/// Spec: create a task handle. The step that always follows, adding its abort steps to the signal,
/// is made here too.
Scheduler::TaskHandle& Scheduler::create_task_handle(Promise& result, Signal* signal) {
  TaskHandle& handle = handles_.emplace_back(TaskHandle{&result, signal});
  if (signal != nullptr) {
    signal->abort_algorithms.push_back({&handle, [this, &handle] { run_abort_steps(handle); }});
  }
  return handle;
}

void Scheduler::run_abort_steps(TaskHandle& handle) {
  promises_.reject(*handle.result, *handle.signal->abort_reason);
  if (handle.task == nullptr) return;
  std::erase(handle.queue->tasks, handle.task);
  run_removal_steps_if_empty(*handle.queue);
}

void Scheduler::run_task_complete_steps(TaskHandle& handle) {
  if (handle.signal != nullptr) {
    std::erase_if(handle.signal->abort_algorithms,
                  [&](const auto& algorithm) { return algorithm.owner == &handle; });
  }
  run_removal_steps_if_empty(*handle.queue);
}

/// Spec: schedule a task to invoke an algorithm, and queue a scheduler task.
void Scheduler::schedule(TaskHandle& handle, std::function<void()> steps) {
  handle.task = &tasks_.emplace_back();
  handle.task->enqueue_order = next_enqueue_order_++;
  handle.task->steps = [this, &handle, steps = std::move(steps)] {
    steps();
    run_task_complete_steps(handle);
  };
  handle.queue->tasks.push_back(handle.task);
}

/// Spec: select the scheduler task queue.
SchedulerTaskQueue& Scheduler::select_queue(Signal& priority_source, bool is_continuation) {
  if (priority_source.has_fixed_priority()) {
    const auto found = static_queues_.find({priority_source.priority, is_continuation});
    if (found != static_queues_.end()) return *found->second;
    return create_queue(static_queues_, priority_source.priority, priority_source.priority,
                        is_continuation);
  }
  const auto found = dynamic_queues_.find({&priority_source, is_continuation});
  if (found != dynamic_queues_.end()) return *found->second;
  SchedulerTaskQueue& queue =
      create_queue(dynamic_queues_, &priority_source, priority_source.priority, is_continuation);
  priority_source.priority_change_algorithms.emplace_back(
      [&queue, &priority_source] { queue.priority = priority_source.priority; });
  return queue;
}

/// Spec: create a scheduler task queue. Its removal steps do not remove a newer queue of the same
/// key (FORMAT.md 11).
template <class Key>
SchedulerTaskQueue& Scheduler::create_queue(QueueMap<Key>& map, Key key, Priority priority,
                                            bool is_continuation) {
  SchedulerTaskQueue& queue = queues_.emplace_back();
  queue.priority = priority;
  queue.is_continuation = is_continuation;
  const auto place = map.emplace(std::pair(key, is_continuation), &queue).first->first;
  queue.removal_steps = [&map, place, &queue] {
    const auto found = map.find(place);
    if (found != map.end() && found->second == &queue) map.erase(found);
  };
  return queue;
}

SchedulerTaskQueue* Scheduler::next_queue() const {
  std::vector<SchedulerTaskQueue*> queues;
  for (const auto& [key, queue] : static_queues_) queues.push_back(queue);
  for (const auto& [key, queue] : dynamic_queues_) queues.push_back(queue);
  std::erase_if(queues, [](const auto* queue) { return queue->tasks.empty(); });
  const auto is_later = [](const auto* left, const auto* right) {
    const int difference = effective_priority(*left) - effective_priority(*right);
    if (difference != 0) return difference < 0;
    return left->tasks.front()->enqueue_order > right->tasks.front()->enqueue_order;
  };
  const auto first = std::ranges::max_element(queues, is_later);
  return first == queues.end() ? nullptr : *first;
}

SchedulerTask* Scheduler::take_next() {
  SchedulerTaskQueue* const queue = next_queue();
  if (queue == nullptr) return nullptr;
  SchedulerTask* const task = queue->tasks.front();
  queue->tasks.pop_front();
  return task;
}

}  // namespace heist::reference
