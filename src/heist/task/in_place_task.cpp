#include <cstdio>
#include <exception>
#include <heist/detail/in_place_task.hpp>
#include <utility>

#include "task_home.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

/// The tasks of one home that this thread finishes as that home closes, oldest first.
class Finishing {
 public:
  explicit Finishing(const TaskHome& home) noexcept
      : home_(home), outer_(std::exchange(innermost, this)) {}
  Finishing(const Finishing&) = delete;
  Finishing& operator=(const Finishing&) = delete;
  ~Finishing() { innermost = outer_; }

  /// The one of this home on this thread, or null.
  [[nodiscard]] static Finishing* of(const SchedulerTask& task) noexcept {
    Finishing* at = innermost;
    while (at != nullptr && &at->home_ != &task.scheduler->home) at = at->outer_;
    return at;
  }
  void add(SchedulerTask& task) noexcept { tasks_.push_back(task); }
  void run() noexcept {
    while (SchedulerTask* task = tasks_.front()) {
      tasks_.pop_front();
      static_cast<const InPlaceOps*>(task->ops)->finish(*task);
    }
  }

 private:
  static thread_local constinit Finishing* innermost;

  const TaskHome& home_;
  Finishing* outer_;
  TaskFifo tasks_;
};

thread_local constinit Finishing* Finishing::innermost = nullptr;

[[noreturn]] void end_program() noexcept {
  std::fputs(
      "heist: a sender was started on an event loop or cluster that is closed, and its receiver "
      "cannot be told that it was stopped. Close after the work has ended, or give the receiver a "
      "stop token or a signal.\n",
      stderr);
  std::terminate();
}

}  // namespace

/// With the task its handle of the home may go.
bool post_in_place(SchedulerTask& task) noexcept {
  TaskHome& home = task.scheduler->home;
  const auto kept = keep_while_posting(home);
  task.priority = task.scheduler->capped(task.priority);
  home.note_posted(task);
  return home.post(task);
}

bool post_in_place(SchedulerTask& task, Delay delay) noexcept {
  task.scheduler->home.set_delay(task, delay);
  return post_in_place(task);
}

std::chrono::steady_clock::time_point time_at(const SchedulerCore& scheduler) noexcept {
  const LoopTime& time = scheduler.home.time();
  return time.is_virtual() ? LoopTime::Clock::time_point(time.now()) : LoopTime::Clock::now();
}

void finish_dropped(SchedulerTask& task) noexcept {
  if (Finishing* under_way = Finishing::of(task)) return under_way->add(task);
  Finishing finishing(task.scheduler->home);
  finishing.add(task);
  finishing.run();
}

void finish_refused(SchedulerTask& task) noexcept {
  Finishing* const under_way = Finishing::of(task);
  if (under_way == nullptr) end_program();
  under_way->add(task);
}

}  // namespace HEIST_NAMESPACE::detail
