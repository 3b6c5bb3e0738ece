// start_task: how a task that an abort may claim starts.
#pragma once

#include <heist/detail/scheduler_task.hpp>

namespace HEIST_NAMESPACE::detail {

/// posted -> started, unless the signal is aborted: then the callback is not called (ABT-2). The
/// aborter, whose walk meets every registered task, claims it and rejects its promise, unless a
/// close's deadline comes before.
[[nodiscard]] bool start_task(ControlledTask& task) noexcept;

/// Called instead of a start, when an abort or a close has come before: ends the task.
void dispose_unstarted(ControlledTask& task, LoopCore& loop) noexcept;

}  // namespace HEIST_NAMESPACE::detail
