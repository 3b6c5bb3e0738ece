#include <heist/error.hpp>
#include <heist/listener.hpp>
#include <heist/subscription.hpp>

#include "../os/thread_id.hpp"
#include "signal_core.hpp"

namespace heist {

const Registration::Ops Listener::listener_ops{&Listener::claim, &Listener::is_dead,
                                               &Listener::forget, Kind::listener};

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

void Listener::dispatch(SignalEvent& event) noexcept {
  auto idle = Phase::idle;
  if (!phase_.compare_exchange_strong(idle, Phase::running,
                                      sync::edge("listener:claim", sync::acquire),
                                      sync::relaxed)) {  // relaxed: removed, nothing is read.
    return;
  }
  runner_.store(this_thread_identity(), sync::relaxed);  // relaxed: compared with one's own only.
  std::exception_ptr error;
  try {
    call_(*this, event);
  } catch (...) {
    error = std::current_exception();
  }
  if (error) report_error(ErrorOrigin::listener, Reason::of(std::move(error)));
  runner_.store(nullptr, sync::relaxed);  // relaxed: as above.
  auto running = Phase::running;
  if (phase_.compare_exchange_strong(running, Phase::idle,
                                     sync::edge("listener:finish", sync::release),
                                     sync::edge("listener:taken", sync::acquire))) {
    return;
  }
  end();
}

void Listener::retire() noexcept {
  auto idle = Phase::idle;
  // Fails when its subscription has removed it.
  if (phase_.compare_exchange_strong(idle, Phase::leaving,
                                     sync::edge("listener:claim", sync::acquire),
                                     sync::relaxed)) {  // relaxed: nothing is read then.
    end();
  }
}

/// leaving -> gone. A remover on another thread waits until the callback is destroyed; one that the
/// callback's own destructor calls does not.
void Listener::end() noexcept {
  runner_.store(this_thread_identity(), sync::relaxed);  // relaxed: compared with one's own only.
  discard_(*this);
  runner_.store(nullptr, sync::relaxed);  // relaxed: as above.
  phase_.store(Phase::gone, sync::edge("listener:finish", sync::release));
  phase_.notify_all();
}

void Listener::remove() noexcept {
  auto seen = Phase::idle;
  // From idle: what an earlier run did is acquired, then the callback is ours to destroy.
  while (!phase_.compare_exchange_weak(seen, seen == Phase::idle ? Phase::gone : Phase::leaving,
                                       sync::edge("listener:remove", sync::acq_rel),
                                       sync::relaxed)) {  // relaxed: a failure only retries.
    if (seen == Phase::gone || seen == Phase::leaving) break;
  }
  if (seen == Phase::idle) return discard_(*this);
  if (runner_.load(sync::relaxed) == this_thread_identity()) return;  // relaxed: one's own or not.
  while ((seen = phase_.load(sync::edge("listener:removed", sync::acquire))) != Phase::gone) {
    phase_.wait(seen, sync::edge("listener:removed", sync::acquire));
  }
}

void Subscription::reset() noexcept {
  // In locals: the callback's destructor may destroy this object.
  const Ref<Listener> listener = std::move(listener_);
  const Ref<SignalCore> signal = std::move(signal_);
  const Event event = event_;
  if (!listener) return;
  listener->remove();
  signal->note_dead_listener(event);
}

bool Subscription::active() const noexcept { return listener_ && listener_->active(); }

}  // namespace heist
