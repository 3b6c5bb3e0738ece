#include <algorithm>
#include <heist/detail/listener.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/wait_core.hpp>
#include <heist/detail/waiter.hpp>
#include <utility>

#include "../loop/loop_core.hpp"
#include "../signal/signal_core.hpp"
#include "../task/scheduler_core.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

/// What a watched signal calls.
struct AbortsWaiter {
  Ref<Waiter> waiter;
  void operator()(const SignalEvent& event) const { waiter->abort(event.signal.reason()); }
};

const SchedulingState& state_here() {
  LoopCore* const loop = current_loop();
  if (loop == nullptr) {
    throw NotAllowedError("co_await: nobody could go on with the wait, as no loop runs here");
  }
  return loop->on_agent().current;
}

}  // namespace

Waiter::Waiter(WaitCore& core, PromiseStateBase& promise, void (*fulfil)(Waiter&) noexcept)
    : core_(core), promise_(promise), fulfil_(fulfil), state_(state_here()) {
  const SchedulerCore* const scheduler = state_.state().scheduler;
  if (scheduler != nullptr) ceiling_ = scheduler->ceiling;
}

bool Waiter::follows_signal() const noexcept {
  const SignalCore* const source = state_.state().priority_source;
  return source != nullptr && source->has_dynamic_priority();
}

TaskPriority Waiter::priority() const noexcept {
  const SchedulingState& state = state_.state();
  const TaskPriority asked =
      follows_signal() ? state.priority_source->scheduling_priority() : state.priority;
  return std::min(asked, ceiling_);
}

void Waiter::watch(SignalCore* signal) {
  SignalCore* const own = state_.state().abort_source;
  if (own != nullptr) watch(watches_[0], *own);
  if (signal != nullptr && signal != own) watch(watches_[1], *signal);
}

void Waiter::watch(Watch& watch, SignalCore& signal) {
  using Aborts = CallbackListener<AbortsWaiter>;
  auto owned = Ref<Listener>::adopt(make_node<Aborts>(AbortsWaiter{Ref<Waiter>::share(this)}));
  auto registered = Ref<Listener>::adopt(owned.get());
  owned->run_once();
  if (signal.add_listener(*owned, SignalEventKind::abort)) {
    static_cast<void>(registered.detach());
    watch = {std::move(owned), Ref<SignalCore>::share(&signal)};
    return;
  }
  static_cast<void>(owned->withdraw());
  abort(signal.reason());
}

void Waiter::end_watch() noexcept {
  for (Watch& one : watches_) {
    const Watch watch = std::exchange(one, {});
    if (watch.listener && watch.listener->withdraw()) {
      watch.signal->note_dead_listener(SignalEventKind::abort);
    }
  }
}

void Waiter::abort(const Reason& reason) noexcept {
  if (!try_claim()) return;
  core_.end_lending(*this);
  promise_.settle_rejected(reason, true);
  core_.forget(*this);
}

}  // namespace HEIST_NAMESPACE::detail
