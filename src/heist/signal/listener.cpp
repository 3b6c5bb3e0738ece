#include <heist/abort_signal.hpp>
#include <heist/detail/listener.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/report_error.hpp>
#include <heist/error.hpp>

#include "../os/thread_id.hpp"
#include "signal_core.hpp"

namespace HEIST_NAMESPACE::detail {

const Registration::Ops Listener::listener_ops{&Listener::claim, &Listener::is_dead,
                                               &Listener::forget, Kind::listener};
const Registration::Ops Listener::once_ops{&Listener::claim, &Listener::is_dead, &Listener::forget,
                                           Kind::listener};

/// Ends a listener, its target, when the signal to which the target is bound aborts. The bond is a
/// listener of that signal itself.
class Listener::Bond final : public Listener {
 public:
  Bond(Listener& target, SignalCore& own, SignalEventKind event, SignalCore& bound_to) noexcept
      : Listener(&call, &discard_target, &destroy),
        signal(Ref<SignalCore>::share(&bound_to)),
        target_(Ref<Listener>::share(&target)),
        own_(Ref<SignalCore>::share(&own)),
        event_(event) {}

  /// The signal to which the target is bound. The target drops this reference when it ends.
  /// Otherwise the two would keep each other alive, because the signal's registry holds the bond.
  Ref<SignalCore> signal;

 private:
  static Bond& of(Listener& listener) noexcept { return static_cast<Bond&>(listener); }
  static void call(Listener& listener, SignalEvent& /*event*/) {
    Bond& self = of(listener);
    if (self.target_->withdraw()) self.own_->note_dead_listener(self.event_);
  }
  static void discard_target(Listener& listener) noexcept {
    const auto target = std::move(of(listener).target_);
    const auto own = std::move(of(listener).own_);
  }
  static void destroy(Listener& listener) noexcept { destroy_node(of(listener)); }

  Ref<Listener> target_;
  Ref<SignalCore> own_;
  SignalEventKind event_;
};

Listener::Listener(void (*call)(Listener&, SignalEvent&), void (*discard)(Listener&) noexcept,
                   void (*destroy)(Listener&) noexcept) noexcept
    : Registration(listener_ops), call_(call), discard_(discard), destroy_(destroy) {}

void retain(Listener& listener) noexcept { listener.shares_.add(); }

void release(Listener& listener) noexcept {
  if (listener.shares_.drop()) listener.destroy_(listener);
}

bool Listener::claim(Registration& registration) noexcept {
  auto& self = static_cast<Listener&>(registration);
  if (!self.active()) return false;
  retain(self);  // for the dispatcher's chain
  return true;
}

bool Listener::is_dead(const Registration& registration) noexcept {
  return !static_cast<const Listener&>(registration).active();
}

void Listener::forget(Registration& registration) noexcept {
  release(static_cast<Listener&>(registration));
}

bool Listener::active() const noexcept {
  return phase_.load(sync::edge("listener:observe", sync::acquire)) != Phase::gone;
}

bool Listener::bind(SignalCore& own, SignalEventKind event, SignalCore& signal) {
  bond_ = make_node<Bond>(*this, own, event, signal);
  if (signal.add(*bond_)) return true;  // from now on an abort may end this listener
  release(*bond_);
  return false;
}

bool Listener::dispatch(SignalEvent& event) noexcept {
  const bool once = ops == &once_ops;
  auto idle = Phase::idle;
  if (!phase_.compare_exchange_strong(idle, once ? Phase::leaving : Phase::running,
                                      sync::edge("listener:claim", sync::acquire),
                                      sync::relaxed)) {  // relaxed: nothing is read then.
    return false;
  }
  // The bond may not have had its turn yet, as the listeners of one abort run one after another.
  if (bond_ == nullptr || !bond_->signal->aborted()) run(event);
  auto running = Phase::running;
  if (!once && phase_.compare_exchange_strong(running, Phase::idle,
                                              sync::edge("listener:finish", sync::release),
                                              sync::edge("listener:taken", sync::acquire))) {
    return false;
  }
  end();
  return once;
}

void Listener::run(SignalEvent& event) noexcept {
  runner_.store(this_thread_identity(), sync::relaxed);  // relaxed: compared with one's own only.
  std::exception_ptr error;
  try {
    call_(*this, event);
  } catch (...) {
    error = std::current_exception();
  }
  if (error) report_error(ErrorOrigin::listener, Reason::of(std::move(error)));
  runner_.store(nullptr, sync::relaxed);  // relaxed: as above.
}

void Listener::retire() noexcept {
  auto idle = Phase::idle;
  // This fails when the subscription has removed the listener.
  if (phase_.compare_exchange_strong(idle, Phase::leaving,
                                     sync::edge("listener:claim", sync::acquire),
                                     sync::relaxed)) {  // relaxed: nothing is read then.
    end();
  }
}

/// leaving -> gone. A remover on another thread waits until the callback is destroyed. A remover
/// that the callback's own destructor calls does not wait.
void Listener::end() noexcept {
  runner_.store(this_thread_identity(), sync::relaxed);  // relaxed: compared with one's own only.
  destroy_callback();
  runner_.store(nullptr, sync::relaxed);  // relaxed: as above.
  phase_.store(Phase::gone, sync::edge("listener:finish", sync::release));
  phase_.notify_all();
}

/// Destroys the callback, and drops the bond.
void Listener::destroy_callback() noexcept {
  discard_(*this);
  if (bond_ == nullptr) return;
  const auto bond = Ref<Listener>::adopt(bond_);
  const auto signal = std::move(std::exchange(bond_, nullptr)->signal);
  if (bond->withdraw()) signal->note_dead_listener(SignalEventKind::abort);
}

bool Listener::withdraw() noexcept {
  auto seen = Phase::idle;
  while (!phase_.compare_exchange_weak(seen, Phase::leaving,
                                       sync::edge("listener:remove", sync::acq_rel),
                                       sync::relaxed)) {  // relaxed: a failure only retries.
    if (seen == Phase::gone || seen == Phase::leaving) return false;
  }
  if (seen == Phase::idle) end();
  return true;
}

bool Listener::remove() noexcept {
  auto seen = Phase::idle;
  // A change from idle acquires what an earlier run did, and then this thread has to destroy the
  // callback.
  while (!phase_.compare_exchange_weak(seen, seen == Phase::idle ? Phase::gone : Phase::leaving,
                                       sync::edge("listener:remove", sync::acq_rel),
                                       sync::relaxed)) {  // relaxed: a failure only retries.
    if (seen == Phase::gone || seen == Phase::leaving) break;
  }
  if (seen == Phase::idle) {
    destroy_callback();
    return true;
  }
  const bool removed = seen == Phase::running;
  // relaxed: compared with one's own only.
  if (runner_.load(sync::relaxed) == this_thread_identity()) return removed;
  while ((seen = phase_.load(sync::edge("listener:removed", sync::acquire))) != Phase::gone) {
    phase_.wait(seen, sync::edge("listener:removed", sync::acquire));
  }
  return removed;
}

}  // namespace HEIST_NAMESPACE::detail

namespace HEIST_NAMESPACE {

using namespace detail;

void Subscription::reset() noexcept {
  // These are local variables, as the callback's destructor may destroy this object.
  const Ref<Listener> listener = std::move(listener_);
  const Ref<SignalCore> signal = std::move(signal_);
  const SignalEventKind event = event_;
  if (!listener) return;
  if (listener->remove()) signal->note_dead_listener(event);
}

bool Subscription::active() const noexcept { return listener_ && listener_->active(); }

}  // namespace HEIST_NAMESPACE
