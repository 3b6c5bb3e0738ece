// async_wait: any completion token of Asio waits for a Promise, on a thread that has no loop.
#pragma once

#include <exception>
#include <heist/asio/library.hpp>
#include <heist/asio/promise_wait.hpp>
#include <heist/detail/access.hpp>
#include <heist/promise.hpp>
#include <type_traits>
#include <utility>

namespace HEIST_ASIO_NAMESPACE {

/// The signature of a handler that waits for a promise of T.
template <class T>
struct WaitSignature {
  using type = void(std::exception_ptr, T);
};
template <>
struct WaitSignature<void> {
  using type = void(std::exception_ptr);
};

/// Starts a wait with the handler that a token gave.
struct StartWait {
  /// That of handlers without one, as everywhere in Asio where there is no I/O object.
  [[nodiscard]] static net::system_executor get_executor() noexcept { return {}; }
  template <class Handler, class T>
  void operator()(Handler&& handler, Promise<T> promise) const {
    PromiseWait<T, std::decay_t<Handler>>::start(std::move(promise),
                                                 std::forward<Handler>(handler));
  }
};

/// Waits for the promise, as `int n = co_await heist::async_wait(promise, net::use_awaitable)`. The
/// handler is called with an exception_ptr and the value, as that of `co_spawn` is. It is posted to
/// its executor, which has outstanding work until then. A rejection gives its exception; an
/// AbortError gives the library's `system_error` with operation_aborted. A move-only value is moved
/// out of the promise.
///
/// What the handler's cancellation slot is told ends the wait, with operation_aborted, and leaves
/// the promise alone.
///
/// Thread:   any. Signals for the slot are emitted on the handler's executor, as Asio asks.
/// Blocks:   never. A destructor that a settling promise runs, of a callback whose loop is closed,
///           is not to wait for the handler, which is posted when it has returned.
/// Errors:   std::bad_alloc; std::invalid_argument for a promise that was moved from. If the
///           executor throws when the promise settles, the error hook hears of it. That of an
///           io_context, also in an `any_io_executor`, does not: the wait has the memory for it.
/// Cost:     one allocation, and that of an executor which is no io_context's. A wait that was
///           cancelled keeps it until the promise settles.
/// Lifetime: the context of the handler's executor outlives the wait. Cancel what may last longer.
/// Spec:     contract ASIO-9.
template <class T, class Token>
auto async_wait(Promise<T> promise, Token&& token) {
  static_assert(std::is_void_v<T> || std::is_default_constructible_v<T>,
                "async_wait(): with an error the handler gets a T as well, so T has to have a "
                "default constructor, which a reference has not");
  detail::Access::check_valid(promise, "async_wait");
  return net::async_initiate<Token, typename WaitSignature<T>::type>(StartWait(), token,
                                                                     std::move(promise));
}

}  // namespace HEIST_ASIO_NAMESPACE

namespace HEIST_NAMESPACE {
using asio::async_wait;
}
