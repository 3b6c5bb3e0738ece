// sleep_for: a promise that fulfils after a delay.
#pragma once

#include <heist/abort_signal.hpp>
#include <heist/delay.hpp>
#include <heist/promise.hpp>
#include <heist/scheduler.hpp>
#include <optional>

namespace heist {

/// Fulfils when the delay is over, as a task of the current scheduler does; rejects with the
/// signal's reason when that aborts before. That task is user-visible, or has the priority of a
/// TaskSignal: whoever awaits the promise goes on behind it.
///
/// Spec:   contract DLY-1…5; a post_task of nothing with the signal and the delay, and as many
///         microtasks.
/// Thread: an agent (others: with a scheduler first).   Blocks: never.   Units: Delay.
/// Errors: NotAllowedError off an agent; std::bad_alloc. A closed loop, or its close: as post_task.
/// Cost:   one allocation, from a pool.
// NOLINTNEXTLINE(readability-const-return-type): to be awaited as it is (heist/detail/await_warning.hpp).
const Promise<void> sleep_for(Delay delay, const std::optional<AbortSignal>& signal = {});

/// The same, on the loop of `scheduler`. Thread: any.
// NOLINTNEXTLINE(readability-const-return-type): as above.
const Promise<void> sleep_for(const Scheduler& scheduler, Delay delay,
                              const std::optional<AbortSignal>& signal = {});

}  // namespace heist
