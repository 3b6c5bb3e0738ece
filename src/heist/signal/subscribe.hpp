// How a listener is registered with a signal.
#pragma once

#include <heist/abort_signal.hpp>

namespace HEIST_NAMESPACE::detail {

/// Registers a new listener, which it takes over. When that is refused, the listener is gone and
/// the subscription inactive.
[[nodiscard]] Subscription subscribe(Listener& listener, SignalCore& signal, SignalEventKind event,
                                     const ListenerOptions& options = {});

}  // namespace HEIST_NAMESPACE::detail
