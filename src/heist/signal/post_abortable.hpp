// post_abortable: posts a task that can be aborted.
#pragma once

#include <heist/detail/scheduler_task.hpp>

namespace HEIST_NAMESPACE::detail {

class SignalCore;

/// Registers the task's abort steps with its abort source, unless that is null, and posts the task.
/// Returns false when the task was refused, because it was aborted meanwhile or the loop is closed.
/// Then its promise is rejected, and the poster's share is gone.
///
/// Precondition: its scheduler is set.   Errors: std::bad_alloc; the task is refused then.
bool post_abortable(ControlledTask& task, SignalCore* abort_source);

}  // namespace HEIST_NAMESPACE::detail
