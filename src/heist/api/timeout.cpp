#include <heist/detail/access.hpp>
#include <heist/detail/in_place_task.hpp>
#include <heist/error.hpp>
#include <heist/timeout.hpp>

#include "../loop/drive_scope.hpp"
#include "../loop/loop_core.hpp"

namespace HEIST_NAMESPACE {

using namespace detail;

namespace {

/// Takes the task off its loop. Returns false when the task is over, or when its callback runs.
bool withdraw(TimeoutTask& task) {
  if (task.is_over()) return false;
  LoopCore& loop = *task.scheduler->home.as_loop();
  const DriveScopeUnlessInside driving(loop);
  return loop.on_agent().withdraw(task);
}

}  // namespace

Timeout detail::arm_timeout(TimeoutTask& task, Delay delay) {
  LoopCore* loop = current_loop();
  if (loop == nullptr) {
    task.destroy();
    throw NotAllowedError("set_timeout: outside of any event loop; post a task that calls it");
  }
  task.scheduler = &loop->plain_source();
  loop->set_delay(task, delay);
  loop->note_posted(task);
  if (loop->post(task)) return Access::make<Timeout>(task);
  task.destroy();
  return {};
}

bool Timeout::clear() {
  if (task_ == nullptr) return false;
  const bool withdrawn = withdraw(*task_);
  TimeoutTask& task = *std::exchange(task_, nullptr);  // a destructor may destroy the handle
  withdrawn ? task.destroy() : task.drop_share();
  return withdrawn;
}

// NOLINTNEXTLINE(readability-const-return-type): see heist/detail/await_warning.hpp.
const Promise<void> sleep_for(Delay delay, const std::optional<AbortSignal>& signal) {
  return sleep_for(scheduler_here(), delay, signal);
}

// NOLINTNEXTLINE(readability-const-return-type): see heist/detail/await_warning.hpp.
const Promise<void> sleep_for(const Scheduler& scheduler, Delay delay,
                              const std::optional<AbortSignal>& signal) {
  Access::check_valid(scheduler, "sleep_for: the scheduler");
  if (signal) Access::check_valid(*signal, "sleep_for: the signal");
  return scheduler.post_task([] {}, {.signal = signal, .delay = delay});
}

}  // namespace HEIST_NAMESPACE
