#include <heist/detail/access.hpp>
#include <heist/error.hpp>
#include <heist/scheduler.hpp>
#include <heist/yield.hpp>
#include <utility>

#include "../loop/loop_core.hpp"
#include "../promise/signalled_continuation.hpp"
#include "../signal/continuation.hpp"
#include "../signal/post_abortable.hpp"

namespace HEIST_NAMESPACE {

using namespace detail;

namespace {

/// The scheduler of the running task, or the loop's first scheduler outside of any task.
SchedulerCore& current_scheduler(LoopCore& loop) noexcept {
  SchedulerCore* scheduler = loop.on_agent().current.scheduler;
  const bool outside = scheduler == nullptr || scheduler == &loop.plain_source();
  return outside ? loop.first_scheduler() : *scheduler;
}

[[noreturn]] void refuse_off_agent() {
  throw NotAllowedError("yield: no event loop runs on this thread; name a scheduler");
}

}  // namespace

Yield Scheduler::yield(YieldOptions options) const {
  check_valid("Scheduler::yield");
  return Access::make<Yield>(home_, core_, std::move(options));
}

Yield::operator Promise<void>() && {
  LoopCore* here = loop_of_this_thread;
  if (scheduler_ == nullptr && here == nullptr) refuse_off_agent();
  const auto state = here != nullptr ? here->on_agent().current : SchedulingState();
  return schedule_continuation(scheduler_ != nullptr ? *scheduler_ : current_scheduler(*here),
                               sources_of(options_, state));
}

bool Yield::suspend(SuspendedCoroutine coroutine, KeptState* kept) {
  LoopCore* here = loop_of_this_thread;
  if (hops_ || here == nullptr) {
    hop(coroutine, kept);
    return false;
  }
  const SchedulingState& state = here->on_agent().current;
  const ContinuationSources sources = sources_of(options_, state);
  SchedulerCore& to = scheduler_ != nullptr ? *scheduler_ : current_scheduler(*here);
  // Only its loop, or its cluster, touches this continuation, so the frame of its coroutine may
  // hold it.
  if (sources.abort_source == nullptr && sources.priority_source == nullptr) {
    if (&to.home == here) {
      auto& task =
          waiting_.emplace<FrameContinuation>(to, to.capped(sources.priority), state, coroutine);
      here->note_posted(task);
      if (here->post(task)) return true;
    } else if (here->is_member_of(to.home) && state.scheduler == &to) {
      if (post_frame(to, sources, state, coroutine, kept)) return false;
    }
  } else if (goes_on_where_it_runs(to, sources, state, *here)) {
    post_signalled(to, sources, state, coroutine, kept);
    return false;
  }
  suspend_with_promise(to, sources, state, coroutine);
  return true;
}

/// The continuation may run, on another thread, as soon as it is posted.
bool Yield::post_frame(SchedulerCore& to, const ContinuationSources& sources,
                       const SchedulingState& state, SuspendedCoroutine coroutine,
                       KeptState* kept) {
  auto& task =
      waiting_.emplace<FrameContinuation>(to, to.capped(sources.priority), state, coroutine);
  const bool left = kept != nullptr && kept->leave();
  to.home.note_posted(task);
  if (to.home.post(task)) return true;
  if (left) kept->enter();  // the coroutine has not suspended
  return false;
}

/// As soon as the continuation is registered with its signal, an abort may resume the coroutine
/// elsewhere. Then the frame may be gone, and this object with it.
void Yield::post_signalled(SchedulerCore& to, const ContinuationSources& sources,
                           const SchedulingState& state, SuspendedCoroutine coroutine,
                           KeptState* kept) {
  auto& waiting = waiting_.emplace<ContinuationReaction>(coroutine);
  auto& task = SignalledContinuation::make(to, sources, state, waiting);
  if (kept != nullptr) kept->leave();
  static_cast<void>(post_reserved(task, Ref<SignalCore>::share(sources.abort_source)));
}

/// Goes on where the scheduler is. As soon as the continuation is posted, the frame may be gone,
/// and this object with it.
void Yield::hop(SuspendedCoroutine coroutine, KeptState* kept) {
  if (scheduler_ == nullptr) refuse_off_agent();
  const auto home = home_;
  LoopCore* here = loop_of_this_thread;
  SchedulingState state = here != nullptr ? here->on_agent().current : SchedulingState();
  state.scheduler = scheduler_;
  state.priority = scheduler_->capped(state.priority);
  state.cooperative_task = 0;  // the code is no part of it now; there another task has the number
  const ContinuationSources sources = sources_of(options_, state);
  if (sources.abort_source == nullptr && sources.priority_source == nullptr) {
    if (post_frame(*scheduler_, sources, state, coroutine, kept)) return;
    throw InvalidStateError("yield: the event loop is closed");
  }
  suspend_with_promise(*scheduler_, sources, state, coroutine);
  if (kept != nullptr) kept->leave();
  wait();
}

void Yield::suspend_with_promise(SchedulerCore& to, const ContinuationSources& sources,
                                 const SchedulingState& state, SuspendedCoroutine coroutine) {
  waiting_
      .emplace<ContinuationReaction>(coroutine,
                                     Access::into_state(schedule_continuation(to, sources)))
      .bind(state);
}

}  // namespace HEIST_NAMESPACE
