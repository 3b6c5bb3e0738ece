// resume_on: a coroutine goes on elsewhere.
#pragma once

#include <heist/agent.hpp>
#include <heist/scheduler.hpp>
#include <heist/yield.hpp>

namespace heist {

/// What `co_await resume_on(scheduler)` awaits: from here on the coroutine runs through that
/// scheduler, a bound one on its agent, a stealable one on any agent of its cluster. It goes on as
/// a continuation with the signals and the priority that it has; without any, as on a plain thread,
/// it is user-visible.
///
/// Spec:   contract YLD-1, YLD-3.   Thread: any.   Blocks: never.
/// Errors: of the `co_await`: the abort reason, where the coroutine goes on; InvalidStateError when
///         the loop is closed; std::bad_alloc. A close that drops the continuation destroys the
///         coroutine's frame.
/// Cost:   as yield(): without an abort source and with a fixed priority, no allocation.
[[nodiscard]] inline Yield resume_on(const Scheduler& scheduler) {
  scheduler.check_valid("resume_on");
  return {scheduler.home(), scheduler.core(), Yield::Hop()};
}
[[nodiscard]] inline Yield resume_on(const Agent& agent) { return resume_on(agent.scheduler()); }

}  // namespace heist
