#include "subscribe.hpp"

#include <heist/detail/access.hpp>
#include <heist/detail/listener.hpp>

#include "signal_core.hpp"

namespace HEIST_NAMESPACE::detail {

Subscription subscribe(Listener& listener, SignalCore& signal, SignalEventKind event,
                       const ListenerOptions& options) {
  auto owned = Ref<Listener>::adopt(&listener);
  auto registered = Ref<Listener>::adopt(&listener);
  if (options.once) listener.run_once();
  // If the event cannot come, nothing is bound: the abort of the other signal would count the end
  // of a registration that was never made.
  const bool may_live =
      signal.has_event(event) &&
      (!options.signal || listener.bind(signal, event, Access::core(*options.signal)));
  if (may_live && signal.add_listener(listener, event)) {
    static_cast<void>(registered.detach());
    return Access::make<Subscription>(std::move(owned), Ref<SignalCore>::share(&signal), event);
  }
  static_cast<void>(listener.withdraw());  // otherwise a bond would keep it
  return {};
}

}  // namespace HEIST_NAMESPACE::detail
