// Scheduler: follows the specification (Prioritized Task Scheduling, "Scheduling Tasks and
// Continuations") algorithm by algorithm, and does not try to be fast.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "support/reference/promises.hpp"
#include "support/reference/signals.hpp"
#include "support/reference/time_line.hpp"

namespace heist::reference {

struct SchedulerTask {
  int enqueue_order = 0;
  std::function<void()> steps;
};

struct SchedulerTaskQueue {
  Priority priority = Priority::user_visible;
  bool is_continuation = false;
  std::deque<SchedulerTask*> tasks;
  std::function<void()> removal_steps;
};

struct PostTaskOptions {
  Signal* signal = nullptr;
  std::optional<Priority> priority;
  int delay = 0;
};

class Scheduler {
 public:
  using Callback = std::function<Completion()>;

  Scheduler(Agent& agent, Promises& promises, Signals& signals, TimeLine& time)
      : agent_(agent), promises_(promises), signals_(signals), time_(time) {}

  /// Spec: schedule a postTask task.
  [[nodiscard]] Promise& post_task(const PostTaskOptions& options, const Callback& callback);
  /// Spec: schedule a yield continuation, without options.
  [[nodiscard]] Promise& yield();
  /// Spec: select the next scheduler task queue from all schedulers. Takes the first task of that
  /// queue; the task lives as long as this object. Returns null when no task is runnable.
  [[nodiscard]] SchedulerTask* take_next();
  [[nodiscard]] bool has_runnable_task() const { return next_queue() != nullptr; }

 private:
  struct TaskHandle {
    Promise* result = nullptr;
    Signal* signal = nullptr;
    SchedulerTask* task = nullptr;
    SchedulerTaskQueue* queue = nullptr;
  };
  /// An option has a value, is absent (a null value), or is "inherit".
  template <class Value>
  struct Option {
    bool is_inherit = false;
    Value value{};
  };
  template <class Key>
  using QueueMap = std::map<std::pair<Key, bool>, SchedulerTaskQueue*>;

  [[nodiscard]] SchedulingState compute_state(const Option<Signal*>& signal,
                                              const Option<std::optional<Priority>>& priority);
  [[nodiscard]] TaskHandle& create_task_handle(Promise& result, Signal* signal);
  void run_abort_steps(TaskHandle& handle);
  void run_task_complete_steps(TaskHandle& handle);
  void schedule(TaskHandle& handle, std::function<void()> steps);
  [[nodiscard]] SchedulerTaskQueue& select_queue(Signal& priority_source, bool is_continuation);
  template <class Key>
  [[nodiscard]] SchedulerTaskQueue& create_queue(QueueMap<Key>& map, Key key, Priority priority,
                                                 bool is_continuation);
  [[nodiscard]] SchedulerTaskQueue* next_queue() const;

  Agent& agent_;
  Promises& promises_;
  Signals& signals_;
  TimeLine& time_;
  int next_enqueue_order_ = 1;
  QueueMap<Priority> static_queues_;
  QueueMap<Signal*> dynamic_queues_;
  std::deque<TaskHandle> handles_;
  std::deque<SchedulerTask> tasks_;
  std::deque<SchedulerTaskQueue> queues_;
};

}  // namespace heist::reference
