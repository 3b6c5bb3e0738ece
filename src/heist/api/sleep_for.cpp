#include <heist/error.hpp>
#include <heist/sleep_for.hpp>

#include "../loop/loop_core.hpp"

namespace heist {

namespace {

/// The running task's scheduler, or the loop's first one outside of any task.
Scheduler scheduler_here() {
  if (auto scheduler = Scheduler::current()) return *std::move(scheduler);
  LoopCore* loop = current_loop();
  if (loop == nullptr) {
    throw NotAllowedError("no event loop runs on this thread: name a scheduler");
  }
  return {Ref<TaskHome>::share(loop), &loop->first_scheduler()};
}

}  // namespace

// NOLINTNEXTLINE(readability-const-return-type): see heist/detail/await_warning.hpp.
const Promise<void> sleep_for(Delay delay, const std::optional<AbortSignal>& signal) {
  return sleep_for(scheduler_here(), delay, signal);
}

// NOLINTNEXTLINE(readability-const-return-type): see heist/detail/await_warning.hpp.
const Promise<void> sleep_for(const Scheduler& scheduler, Delay delay,
                              const std::optional<AbortSignal>& signal) {
  scheduler.check_valid("sleep_for: the scheduler");
  if (signal) signal->check_valid("sleep_for: the signal");
  return scheduler.post_task([] {}, {.signal = signal, .delay = delay});
}

}  // namespace heist
