// bind_abort_signal: an abort cancels an operation of Asio; abort_by_slot: the other direction.
#pragma once

#include <heist/abort_signal.hpp>
#include <heist/asio/abort_bridge.hpp>
#include <heist/asio/library.hpp>
#include <heist/detail/access.hpp>
#include <memory>
#include <type_traits>
#include <utility>

namespace HEIST_ASIO_NAMESPACE {

/// The token or handler that bind_abort_signal() returns. It has a constructor because g++ 12
/// destroys an aggregate twice that is made within a `co_await` expression.
template <class Token>
struct AbortToken {
  /// Binds the signal to the token.
  template <class T>
  AbortToken(const AbortSignal& source, T&& other)
      : signal(source), token(std::forward<T>(other)) {}

  AbortSignal signal;  ///< whose abort cancels
  Token token;         ///< what the operation is started with
};

/// A completion token with which an abort of the signal cancels the operation, as
/// `socket.async_read_some(buffer, bind_abort_signal(signal, heist::use_promise))`. The aborting
/// thread only posts to the executor of the handler; the cancellation happens there, unless the
/// operation is complete by then. If the token has no executor, that of the I/O object is taken; an
/// operation that does not tell it, as some of Beast's, needs a token with an executor. A signal
/// that is aborted already cancels at once, in the same way.
///
/// The executor may be that of many threads. Asio's slots are for one at a time, so the handler
/// runs on a strand of it, unless it is one. A coroutine of `co_spawn` is cancelled where it runs:
/// spawn it on a strand, with a token that has no other executor. (To another one Asio 1.26 hands
/// the cancellation over without keeping the slot alive.)
///
/// An operation of several steps has to notice a cancellation that comes between two of them. Those
/// of Asio do; `http::async_read` of Beast 1.81 does not, and goes on, whoever cancels it.
///
/// What else is bound goes within, as bind_abort_signal(signal, bind_cancellation_slot(slot, t)):
/// of two slots the outer one hides the inner one.
///
/// Thread: any.   Blocks: when the handler is called, while the aborting thread posts.
/// Errors: of the operation's start: std::invalid_argument for a moved-from signal; std::bad_alloc,
///         with which the operation may have been started without the signal.
/// Cost:   four allocations.   Spec: contract ASIO-8.
/// Lifetime: the I/O object lives until the handler is called. As with every slot of Asio, the
///         cancellation uses it until then, on the executor of the handler.
template <class Token>
[[nodiscard]] AbortToken<std::decay_t<Token>> bind_abort_signal(const AbortSignal& signal,
                                                                Token&& token) {
  return AbortToken<std::decay_t<Token>>(signal, std::forward<Token>(token));
}

/// A cancellation that the slot is told of aborts the controller, within that call.
///
/// Thread: that of the slot.   Errors: std::bad_alloc.   Lifetime: until the slot is cleared or
///         assigned anew.   Spec: contract ASIO-8.
inline void abort_by_slot(net::cancellation_slot slot, const AbortController& controller) {
  slot.assign([own = controller](net::cancellation_type /*type*/) mutable { own.abort(); });
}

/// Asio is offered this type, which is none, to see whether a handler has an executor of its own.
struct NoExecutor {};

/// Whether the handler has an executor of its own.
template <class Handler>
inline constexpr bool has_executor =
    !std::is_same_v<typename net::associated_executor<Handler, NoExecutor>::type, NoExecutor>;

/// Starts an operation with an AbortHandler around the handler that it is given.
template <class Initiation>
struct AbortInitiation {
  template <class Handler, class... Args>
  void operator()(Handler&& handler, Args&&... args) {
    detail::Access::check_valid(signal, "bind_abort_signal");
    using Serial = typename SerialExecutor<decltype(executor_of(handler))>::type;
    const auto bridge = std::make_shared<AbortBridge<Serial>>(Serial(executor_of(handler)));
    std::move(initiation)(
        AbortHandler<std::decay_t<Handler>, Serial>(std::forward<Handler>(handler), bridge),
        std::forward<Args>(args)...);
    bridge->follow(signal);
  }
  /// That of the handler, else of the I/O object.
  template <class Handler>
  [[nodiscard]] auto executor_of(const Handler& handler) const {
    if constexpr (requires { initiation.get_executor(); }) {
      return net::get_associated_executor(handler, initiation.get_executor());
    } else {
      static_assert(has_executor<Handler>,
                    "bind_abort_signal(): the operation does not tell its executor. Bind one, as "
                    "in bind_abort_signal(signal, bind_executor(executor, token))");
      return net::get_associated_executor(handler);
    }
  }

  Initiation initiation;
  AbortSignal signal;
};

/// Has the `return_type` of a token's results, if these have one. Those of `deferred` have none.
template <class Result>
struct AbortReturn {};
template <class Result>
  requires requires { typename Result::return_type; }
struct AbortReturn<Result> {
  using return_type = typename Result::return_type;
};

}  // namespace HEIST_ASIO_NAMESPACE

namespace HEIST_NAMESPACE {
using asio::bind_abort_signal;
}

namespace HEIST_ASIO_LIBRARY_NAMESPACE {

template <class Token, class Signature>
class async_result<heist::asio::AbortToken<Token>, Signature>
    : public heist::asio::AbortReturn<async_result<Token, Signature>> {
  template <class Initiation>
  using Started = heist::asio::AbortInitiation<std::decay_t<Initiation>>;
  /// The token as it was given: one that has a name is copied, not moved.
  template <class Bound>
  using Given = decltype((std::declval<Bound>().token));

 public:
  // The result is written out, so that Asio can ask for it without an operation to start.
  template <class Initiation, class Bound, class... Args>
  static auto initiate(Initiation&& initiation, Bound&& bound, Args&&... args)
      -> decltype(async_initiate<Given<Bound>, Signature>(std::declval<Started<Initiation>>(),
                                                          bound.token,
                                                          std::forward<Args>(args)...)) {
    return async_initiate<Given<Bound>, Signature>(
        Started<Initiation>{std::forward<Initiation>(initiation), bound.signal}, bound.token,
        std::forward<Args>(args)...);
  }
};

}  // namespace HEIST_ASIO_LIBRARY_NAMESPACE
