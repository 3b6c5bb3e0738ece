#include "post_abortable.hpp"

#include <utility>

#include "../os/fork_watch.hpp"
#include "../task/task_home.hpp"
#include "signal_core.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

/// Rejects a task that its poster still holds.
void refuse(ControlledTask& task, const Reason& reason) noexcept {
  if (task.try_drop()) task.task_ops().reject(task, reason);
  dispose(task);
}

/// The reason why a home does not accept a task.
const Reason& refusal_reason(const TaskHome& home) noexcept {
  return ForkWatch::has_lost(&home) ? agent_lost_reason() : loop_closed_reason();
}

/// Registers the task with its signal. From then on an abort may claim it. Returns false when
/// the signal was aborted meanwhile; the task is refused then.
inline bool register_abort_steps(ControlledTask& task, Ref<SignalCore> abort_source) noexcept {
  SignalCore& signal = *abort_source.detach();
  task.links->signal = &signal;
  task.links->memory.add_unshared();
  if (signal.add(*task.links)) return true;
  task.task_ops().release_share(task);
  refuse(task, signal.reason());
  return false;
}

inline bool post_to_home(ControlledTask& task) noexcept {
  if (task.scheduler->home.post(task)) [[likely]]
    return true;
  refuse(task, refusal_reason(task.scheduler->home));
  return false;
}

/// The body of post_reserved(). It is in line in post_abortable(), too, where the call took 17
/// instructions.
[[gnu::always_inline]] inline bool register_and_post(ControlledTask& task,
                                                     Ref<SignalCore> abort_source) noexcept {
  task.scheduler->home.note_posted(task);
  const bool is_registered = !abort_source || register_abort_steps(task, std::move(abort_source));
  return is_registered && post_to_home(task);
}

}  // namespace

void reserve_abortable(ControlledTask& task, SignalCore* abort_source) {
  if (abort_source != nullptr && task.links->port == nullptr) {
    task.links->port = &abort_source->port_for(*task.scheduler);
  }
  if (task.is_dynamic) task.scheduler->home.reserve_place(task);
}

void post_without_signal(ControlledTask& task) noexcept {
  task.scheduler->home.note_posted(task);
  static_cast<void>(post_to_home(task));
}

bool post_reserved(ControlledTask& task, Ref<SignalCore> abort_source) noexcept {
  return register_and_post(task, std::move(abort_source));
}

bool post_abortable(ControlledTask& task, Ref<SignalCore> abort_source) {
  try {
    reserve_abortable(task, abort_source.get());
  } catch (...) {
    refuse(task, loop_closed_reason());
    throw;
  }
  return register_and_post(task, std::move(abort_source));
}

}  // namespace HEIST_NAMESPACE::detail
