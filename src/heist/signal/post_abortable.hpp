// post_abortable: a task that can be aborted goes to its loop.
#pragma once

#include <heist/detail/scheduler_task.hpp>

namespace HEIST_NAMESPACE::detail {

class SignalCore;

/// Registers the task's abort steps with its abort source (or null) and posts it. False: refused,
/// as it was aborted meanwhile or the loop is closed: its promise is rejected, and the poster's
/// share gone.
///
/// Precondition: its scheduler is set.   Errors: std::bad_alloc; the task is refused.
bool post_abortable(ControlledTask& task, SignalCore* abort_source);

}  // namespace HEIST_NAMESPACE::detail
