#include <heist/detail/access.hpp>
#include <heist/error.hpp>
#include <heist/timeout.hpp>

#include "../loop/loop_core.hpp"

namespace HEIST_NAMESPACE {

using namespace detail;

namespace {

/// The running task's scheduler, or the loop's first one outside of any task.
Scheduler scheduler_here() {
  if (auto scheduler = Scheduler::current()) return *std::move(scheduler);
  LoopCore* loop = current_loop();
  if (loop == nullptr) {
    throw NotAllowedError("no event loop runs on this thread: name a scheduler");
  }
  return Access::make<Scheduler>(Ref<TaskHome>::share(loop), &loop->first_scheduler());
}

}  // namespace

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
