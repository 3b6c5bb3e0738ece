// How a listener is registered with a signal.
#pragma once

#include <heist/abort_signal.hpp>

namespace HEIST_NAMESPACE::detail {

/// Takes a new listener over, and registers it. When that is refused, the listener is gone, and the
/// subscription is inactive.
[[nodiscard]] Subscription subscribe(Listener& listener, SignalCore& signal, SignalEventKind event,
                                     const ListenerOptions& options = {});

}  // namespace HEIST_NAMESPACE::detail
