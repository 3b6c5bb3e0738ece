#include <cassert>
#include <heist/detail/access.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/task_signal.hpp>
#include <stdexcept>

#include "../signal/controller_signal.hpp"
#include "../signal/dependent_signal.hpp"
#include "../signal/signal_core.hpp"
#include "../signal/subscribe.hpp"

namespace HEIST_NAMESPACE {

using namespace detail;

namespace {

TaskPriority checked(TaskPriority priority) {
  if (priority > TaskPriority::user_blocking) {
    throw std::invalid_argument("the value is not a TaskPriority");
  }
  return priority;
}

}  // namespace

TaskSignal TaskSignal::any(std::span<const AbortSignal> signals, TaskPriority priority) {
  return TaskSignal(
      DependentSignal::make(signals, {.kind = PriorityKind::fixed, .value = checked(priority)}));
}

TaskSignal TaskSignal::any(std::initializer_list<ListedSignal> signals) {
  return TaskSignal(
      DependentSignal::make(std::span<const ListedSignal>(signals.begin(), signals.size()),
                            {.kind = PriorityKind::fixed}));
}

TaskSignal TaskSignal::any(std::span<const AbortSignal> signals,
                           const TaskSignal& priority_source) {
  priority_source.check_valid("TaskSignal::any: the priority source");
  return TaskSignal(
      DependentSignal::make(signals, DependentSignal::following(priority_source.core())));
}

TaskPriority TaskSignal::priority() const noexcept {
  assert(valid() && "TaskSignal::priority: the handle was moved from");
  return valid() ? core().priority() : TaskPriority::user_visible;
}

Subscription TaskSignal::add_priority_listener(Listener& listener,
                                               const ListenerOptions& options) const {
  return subscribe(listener, core(), SignalEventKind::priority_change, options);
}

TaskController::TaskController(TaskPriority priority)
    : AbortController(Ref<SignalCore>::adopt(make_node<ControllerSignal>(checked(priority)))) {}

void TaskController::set_priority(TaskPriority priority) {
  const TaskPriority next = checked(priority);
  // An AbortController may have been assigned through the base class.
  if (core().is_task_signal()) core().changing_priority().set(core(), next);
}

}  // namespace HEIST_NAMESPACE
