// post_abortable: posts a task that can be aborted.
#pragma once

#include <heist/detail/ref.hpp>
#include <heist/detail/scheduler_task.hpp>

namespace HEIST_NAMESPACE::detail {

class SignalCore;

/// Registers the task's abort steps with its abort source, unless that is null, and posts the task.
/// Returns false when the task was refused, because it was aborted meanwhile or the loop is closed.
/// Then its promise is rejected, and the poster's share is gone.
///
/// Precondition: its scheduler is set.   Errors: std::bad_alloc; the task is refused then.
bool post_abortable(ControlledTask& task, Ref<SignalCore> abort_source);

/// The two halves of post_abortable(). The first one reserves what the task will need when it is
/// aborted, or becomes runnable, so that neither can fail (LIF-4); the poster may have found the
/// signal's port already.   Errors: std::bad_alloc; the task is still the caller's.
void reserve_abortable(ControlledTask& task, SignalCore* abort_source);
bool post_reserved(ControlledTask& task, Ref<SignalCore> abort_source) noexcept;
/// Does the same for a task without signals, for which nothing is reserved.
void post_without_signal(ControlledTask& task) noexcept;

}  // namespace HEIST_NAMESPACE::detail
