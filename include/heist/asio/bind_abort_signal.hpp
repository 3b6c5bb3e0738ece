// bind_abort_signal: an abort cancels an operation of Asio; abort_by_slot: the other direction.
#pragma once

#include <heist/abort_signal.hpp>
#include <heist/asio/abort_bridge.hpp>
#include <heist/asio/library.hpp>
#include <type_traits>
#include <utility>

namespace HEIST_ASIO_NAMESPACE {

/// The token or handler that bind_abort_signal() returns.
template <class Token>
struct AbortToken {
  AbortSignal signal;
  Token token;
};

/// A completion token with which an abort of the signal cancels the operation, as
/// `socket.async_read_some(buffer, bind_abort_signal(signal, heist::use_promise))`. The aborting
/// thread only posts to the executor of the handler; the cancellation happens there, unless the
/// operation is complete by then. If the token has no executor, that of the I/O object is taken. A
/// signal that is aborted already cancels at once, in the same way.
///
/// Thread: any.   Blocks: when the handler is called, while the aborting thread posts.
/// Errors: of the operation's start: std::bad_alloc; std::invalid_argument for a moved-from signal.
/// Precondition: the operation and its handler have one executor, which runs one handler at a time:
///         a loop's, a strand, or that of an io_context with one thread. Asio's slots are not made
///         for more. An operation whose signal may be aborted while it starts is started there.
/// Cost:   three allocations.   Spec: contract ASIO-8.
template <class Token>
[[nodiscard]] AbortToken<std::decay_t<Token>> bind_abort_signal(const AbortSignal& signal,
                                                                Token&& token) {
  return {signal, std::forward<Token>(token)};
}

/// A cancellation that the slot is told of aborts the controller, within that call.
///
/// Thread: that of the slot.   Errors: std::bad_alloc.   Lifetime: until the slot is cleared or
///         assigned anew.   Spec: contract ASIO-8.
inline void abort_by_slot(net::cancellation_slot slot, const AbortController& controller) {
  slot.assign([own = controller](net::cancellation_type /*type*/) mutable { own.abort(); });
}

/// Starts an operation with an AbortHandler around the handler that it is given.
template <class Initiation>
struct AbortInitiation {
  template <class Handler, class... Args>
  void operator()(Handler&& handler, Args&&... args) {
    auto executor = executor_of(handler);
    using Wrapped = AbortHandler<std::decay_t<Handler>, decltype(executor)>;
    std::move(initiation)(Wrapped(signal, executor, std::forward<Handler>(handler)),
                          std::forward<Args>(args)...);
  }
  /// That of the handler, else of the I/O object.
  template <class Handler>
  [[nodiscard]] auto executor_of(const Handler& handler) const {
    if constexpr (requires { initiation.get_executor(); }) {
      return net::get_associated_executor(handler, initiation.get_executor());
    } else {
      return net::get_associated_executor(handler);
    }
  }

  Initiation initiation;
  AbortSignal signal;
};

}  // namespace HEIST_ASIO_NAMESPACE

namespace HEIST_NAMESPACE {
using asio::bind_abort_signal;
}

namespace HEIST_ASIO_LIBRARY_NAMESPACE {

template <class Token, class Signature>
class async_result<heist::asio::AbortToken<Token>, Signature> {
 public:
  using return_type = typename async_result<Token, Signature>::return_type;

  template <class Initiation, class Bound, class... Args>
  static decltype(auto) initiate(Initiation&& initiation, Bound&& bound, Args&&... args) {
    return async_initiate<Token, Signature>(
        heist::asio::AbortInitiation<std::decay_t<Initiation>>{std::forward<Initiation>(initiation),
                                                               bound.signal},
        bound.token, std::forward<Args>(args)...);
  }
};

}  // namespace HEIST_ASIO_LIBRARY_NAMESPACE
