#include "stop_signal.hpp"

#include <heist/abort_signal.hpp>
#include <heist/detail/node_memory.hpp>

namespace HEIST_NAMESPACE::detail {

Ref<SignalCore> StopSignal::make(const std::stop_token& token) {
  auto* made = make_node<StopSignal>();
  auto result = Ref<SignalCore>::adopt(made);
  made->callback_.emplace(token, Callback{made});
  return result;
}

void StopSignal::Callback::operator()() const noexcept {
  StopSignal& self = *signal;  // read now, as this object may go with the signal
  if (!self.try_retain()) return;
  Reason reason;
  try {
    reason = Reason::of_abort();
  } catch (...) {
    reason = Reason::out_of_memory();
  }
  self.abort(std::move(reason));
  release(self);
}

void StopSignal::end_stop() noexcept {
  callback_.reset();
  destroy_node(*this);
}

void StopBridge::call(Listener& listener, SignalEvent& /*event*/) {
  static_cast<StopBridge&>(listener).request_stop();
}
void StopBridge::discard(Listener& /*listener*/) noexcept {}
void StopBridge::destroy(Listener& listener) noexcept {
  destroy_node(static_cast<StopBridge&>(listener));
}

std::stop_token SignalCore::stop_token() {
  if (const auto* made = stop_.load(sync::edge("signal:notify", sync::acquire))) {
    return made->token();
  }
  auto* bridge = make_node<StopBridge>();
  StopBridge* none = nullptr;
  if (!stop_.compare_exchange_strong(none, bridge, sync::edge("signal:attach", sync::acq_rel),
                                     sync::edge("signal:notify", sync::acquire))) {
    destroy_node(*bridge);
    return none->token();
  }
  if (!add(*bridge)) {
    release(static_cast<Listener&>(*bridge));  // the registry's share
    bridge->request_stop();
  }
  return bridge->token();
}

}  // namespace HEIST_NAMESPACE::detail
