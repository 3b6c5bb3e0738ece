// use_promise: a completion token with which an operation of Asio gives a Promise.
#pragma once

#include <exception>
#include <heist/asio/library.hpp>
#include <heist/promise.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace HEIST_ASIO_NAMESPACE {

/// The type of `use_promise`.
struct UsePromise {};

/// Given as the completion token, `socket.async_read_some(buffer, heist::use_promise)` gives a
/// Promise of the bytes. An error is a rejection by the library's `system_error`; an operation that
/// was cancelled rejects with AbortError. A coroutine that awaits the promise goes on where it was,
/// at the priority that it had. Of several results the promise has a std::tuple.
///
/// Thread: that of the operation; the promise may be used anywhere.   Blocks: never.
/// Cost:   one allocation more than the operation.
/// Spec:   contract ASIO-6.
inline constexpr UsePromise use_promise{};

/// Why a promise rejects whose operation ended with this error.
[[nodiscard]] inline Reason reason_of(const error_code& error) {
  if (error == net::error::operation_aborted) return Reason::of_abort();
  return Reason(system_error(error));
}

/// The same for an operation whose handler is given an exception, as that of `co_spawn`.
[[nodiscard]] inline Reason reason_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const system_error& failed) {
    return failed.code() == net::error::operation_aborted ? Reason::of_abort() : Reason::of(error);
  } catch (...) {
    return Reason::of(error);
  }
}

/// Whether a handler's first argument is one that says how the operation ended.
template <class T>
inline constexpr bool is_error = std::is_same_v<std::remove_cvref_t<T>, error_code> ||
                                 std::is_same_v<std::remove_cvref_t<T>, std::exception_ptr>;

/// The value of a promise for these results.
template <class... Values>
struct PromisedValue {
  using type = std::tuple<Values...>;
};
template <>
struct PromisedValue<> {
  using type = void;
};
template <class Value>
struct PromisedValue<Value> {
  using type = Value;
};

/// The value of a promise for the arguments of a handler, the first of which may be an error.
template <class... Arguments>
struct PromisedResult : PromisedValue<Arguments...> {};
template <class... Values>
struct PromisedResult<error_code, Values...> : PromisedValue<Values...> {};
template <class... Values>
struct PromisedResult<std::exception_ptr, Values...> : PromisedValue<Values...> {};

/// The handler that settles the promise. Destroyed without a call, it rejects with
/// InvalidStateError.
template <class Value>
class PromiseHandler {
 public:
  explicit PromiseHandler(Resolver<Value> resolver) noexcept : resolver_(std::move(resolver)) {}

  void operator()() { resolver_.resolve(); }
  template <class First, class... Rest>
  void operator()(First&& first, Rest&&... rest) {
    if constexpr (is_error<First>) {
      if (first) return resolver_.reject(reason_of(first));
      resolver_.resolve(std::forward<Rest>(rest)...);
    } else {
      resolver_.resolve(std::forward<First>(first), std::forward<Rest>(rest)...);
    }
  }

 private:
  Resolver<Value> resolver_;
};

}  // namespace HEIST_ASIO_NAMESPACE

namespace HEIST_NAMESPACE {
using asio::use_promise;
}

namespace HEIST_ASIO_LIBRARY_NAMESPACE {

template <class Result, class... Arguments>
class async_result<heist::asio::UsePromise, Result(Arguments...)> {
  using Value = typename heist::asio::PromisedResult<std::decay_t<Arguments>...>::type;

 public:
  using return_type = heist::Promise<Value>;

  template <class Initiation, class... Args>
  static return_type initiate(Initiation&& initiation, heist::asio::UsePromise /*token*/,
                              Args&&... args) {
    auto [promise, resolver] = return_type::with_resolver();
    std::forward<Initiation>(initiation)(heist::asio::PromiseHandler<Value>(std::move(resolver)),
                                         std::forward<Args>(args)...);
    return std::move(promise);
  }
};

}  // namespace HEIST_ASIO_LIBRARY_NAMESPACE
