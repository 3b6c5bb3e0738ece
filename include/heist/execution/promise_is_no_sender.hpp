// A Promise is no sender, although libraries of senders would take it for one.
#pragma once

#include <heist/execution/library.hpp>
#include <heist/promise.hpp>

/// Libraries take what can be awaited for a sender. As one, a Promise would fail where no loop
/// runs, and an abort would be an error.
template <class T>
inline constexpr bool HEIST_EXECUTION_NAMESPACE::enable_sender<heist::Promise<T>> = false;
