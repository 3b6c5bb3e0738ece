#include <heist/error.hpp>
#include <heist/scheduler.hpp>
#include <heist/yield.hpp>
#include <utility>

#include "../loop/continuation.hpp"
#include "../loop/loop_core.hpp"

namespace heist {

namespace {

/// What a yield inherits here.
SchedulingState current_state() noexcept {
  LoopCore* loop = current_loop();
  return loop != nullptr ? loop->on_agent().current : SchedulingState();
}

/// Whether nobody else touches the continuation: its coroutine's frame may hold it.
bool fits_in_frame(const ContinuationSources& sources, const LoopCore& loop) noexcept {
  const LoopCore* here = current_loop();
  return sources.abort_source == nullptr && sources.priority_source == nullptr &&
         (here == &loop || here == nullptr);
}

}  // namespace

Yield Scheduler::yield(YieldOptions options) const { return {loop_, *core_, std::move(options)}; }

Yield yield(YieldOptions options) {
  LoopCore* loop = current_loop();
  if (loop == nullptr) throw NotAllowedError("yield: no event loop runs on this thread");
  SchedulerCore* scheduler = loop->on_agent().current.scheduler;
  const bool outside = scheduler == nullptr || scheduler == &loop->plain_source();
  return {{}, outside ? loop->first_scheduler() : *scheduler, std::move(options)};
}

Yield::operator Promise<void>() && {
  return schedule_continuation(scheduler_, sources_of(options_, current_state()));
}

void Yield::suspend(SuspendedCoroutine coroutine) {
  const ContinuationSources sources = sources_of(options_, current_state());
  if (fits_in_frame(sources, scheduler_.loop)) {
    const bool off_agent = current_loop() == nullptr;
    // Off an agent the frame, and this object with it, may be gone as soon as the task is posted.
    const auto loop = off_agent ? loop_ : Ref<LoopCore>();
    auto& task = waiting_.emplace<FrameContinuation>(scheduler_, sources.priority, coroutine);
    if (scheduler_.loop.post(task)) return;
    if (off_agent) throw InvalidStateError("yield: the event loop is closed");
  }
  waiting_.emplace<ContinuationReaction>(schedule_continuation(scheduler_, sources), coroutine)
      .attach(scheduler_);
}

}  // namespace heist
