#include <cassert>
#include <heist/detail/access.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/scheduler.hpp>
#include <heist/task_signal.hpp>

#include "../loop/loop_core.hpp"
#include "../signal/dependent_signal.hpp"
#include "../signal/signal_core.hpp"
#include "../signal/stop_signal.hpp"
#include "../signal/subscribe.hpp"
#include "../signal/timeout_signal.hpp"

namespace HEIST_NAMESPACE {

using namespace detail;

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
  auto core = Ref<SignalCore>::adopt(make_node<SignalCore>());
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

AbortController::AbortController() : core_(Ref<SignalCore>::adopt(make_node<SignalCore>())) {}

void AbortController::abort() { core_->abort(Reason::of_abort()); }

void AbortController::abort(const Reason& reason) {
  if (!reason) return abort();
  core_->abort(reason);
}

}  // namespace HEIST_NAMESPACE
