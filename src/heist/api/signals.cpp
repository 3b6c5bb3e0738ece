#include <cassert>
#include <heist/detail/access.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/scheduler.hpp>
#include <heist/task_signal.hpp>
#include <stdexcept>

#include "../loop/dependent_signal.hpp"
#include "../loop/loop_core.hpp"
#include "../loop/signal_core.hpp"
#include "../loop/stop_signal.hpp"
#include "../loop/timeout_signal.hpp"

namespace HEIST_NAMESPACE {

using namespace detail;

namespace {

TaskPriority checked(TaskPriority priority) {
  if (priority > TaskPriority::user_blocking) {
    throw std::invalid_argument("the value is not a TaskPriority");
  }
  return priority;
}

/// Registers a new listener. When that is refused, the listener is destroyed and the subscription
/// is inactive.
Subscription subscribe(Listener& listener, SignalCore& signal, SignalEventKind event,
                       const ListenerOptions& options = {}) {
  auto owned = Ref<Listener>::adopt(&listener);
  auto registered = Ref<Listener>::adopt(&listener);
  if (options.once) listener.run_once();
  const bool may_live =
      !options.signal || listener.bind(signal, event, Access::core(*options.signal));
  const bool is_for_abort = event == SignalEventKind::abort;
  if (may_live &&
      (is_for_abort ? signal.add(listener) : signal.add_priority_registration(listener))) {
    static_cast<void>(registered.detach());
    return Access::make<Subscription>(std::move(owned), Ref<SignalCore>::share(&signal), event);
  }
  static_cast<void>(listener.withdraw());  // otherwise a bond would keep it
  return {};
}

}  // namespace

AbortSignal AbortSignal::from(const std::stop_token& token) {
  return AbortSignal(StopSignal::make(token));
}

std::stop_token AbortSignal::stop_token() const {
  check_valid("AbortSignal::stop_token");
  return core_->stop_token();
}

bool AbortSignal::aborted() const noexcept {
  assert(valid() && "AbortSignal::aborted: the handle was moved from");
  return valid() && core_->aborted();
}

Reason AbortSignal::reason() const noexcept {
  assert(valid() && "AbortSignal::reason: the handle was moved from");
  return valid() ? core_->reason() : Reason();
}

void AbortSignal::throw_if_aborted() const {
  check_valid("AbortSignal::throw_if_aborted");
  if (const Reason reason = core_->reason()) reason.rethrow();
}

Subscription AbortSignal::add_abort_listener(Listener& listener) const {
  return subscribe(listener, *core_, SignalEventKind::abort);
}

Subscription AbortSignal::add_abort_listener(Listener& listener,
                                             const ListenerOptions& options) const {
  return subscribe(listener, *core_, SignalEventKind::abort, options);
}

AbortSignal AbortSignal::abort() { return abort(Reason::of_abort()); }

AbortSignal AbortSignal::abort(const Reason& reason) {
  if (!reason) return abort();
  auto core =
      Ref<SignalCore>::adopt(make_node<SignalCore>(PriorityKind::none, TaskPriority::user_visible));
  core->abort_at_birth(reason);
  return AbortSignal(std::move(core));
}

AbortSignal AbortSignal::timeout(Delay delay) {
  LoopCore* loop = current_loop();
  if (loop == nullptr) {
    throw NotAllowedError("AbortSignal::timeout: outside of any event loop; name a scheduler");
  }
  return AbortSignal(TimeoutSignal::make(*loop, delay));
}

AbortSignal AbortSignal::timeout(const Scheduler& scheduler, Delay delay) {
  Access::check_valid(scheduler, "AbortSignal::timeout: the scheduler");
  return AbortSignal(TimeoutSignal::make(*Access::home(scheduler), delay));
}

AbortSignal AbortSignal::any(std::span<const AbortSignal> signals) {
  return AbortSignal(DependentSignal::make(signals, {}));
}

AbortSignal AbortSignal::any(std::initializer_list<ListedSignal> signals) {
  return AbortSignal(
      DependentSignal::make(std::span<const ListedSignal>(signals.begin(), signals.size()), {}));
}

std::optional<TaskSignal> AbortSignal::as_task_signal() const noexcept {
  if (!valid() || !core_->is_task_signal()) return std::nullopt;
  return Access::make<TaskSignal>(core_);
}

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

AbortController::AbortController()
    : core_(Ref<SignalCore>::adopt(
          make_node<SignalCore>(PriorityKind::none, TaskPriority::user_visible))) {}

void AbortController::abort() { core_->abort(Reason::of_abort()); }

void AbortController::abort(const Reason& reason) {
  if (!reason) return abort();
  core_->abort(reason);
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
    : AbortController(
          Ref<SignalCore>::adopt(make_node<SignalCore>(PriorityKind::own, checked(priority)))) {}

void TaskController::set_priority(TaskPriority priority) { core().set_priority(checked(priority)); }

}  // namespace HEIST_NAMESPACE
