// use_promise: an operation of Asio gives a promise.
#include <gtest/gtest.h>

#include <chrono>
#include <heist/asio.hpp>
#include <heist/heist.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>

#include "asio/library_under_test.hpp"

namespace HEIST_NAMESPACE::asio {
namespace {

/// An operation that completes with these arguments.
template <class Signature, class... Values>
auto complete_with(Values... values) {
  return net::async_initiate<const UsePromise, Signature>(
      [](auto handler, Values... given) { std::move(handler)(given...); }, use_promise, values...);
}

// Rule: ASIO-6
TEST(AsioUsePromise, operation_when_it_succeeds_then_the_promise_has_its_values) {
  EXPECT_EQ(complete_with<void(error_code, int)>(error_code(), 7).get(), 7);
  EXPECT_EQ(complete_with<void(int)>(8).get(), 8);
  const auto both =
      complete_with<void(std::exception_ptr, int, char)>(std::exception_ptr(), 1, 'a');
  EXPECT_EQ(both.get(), std::make_tuple(1, 'a'));
  EXPECT_NO_THROW(complete_with<void()>().get());
}

// Rule: ASIO-6
TEST(AsioUsePromise, operation_when_it_fails_then_the_promise_rejects_with_the_error) {
  const auto failed = complete_with<void(error_code, int)>(error_code(net::error::eof), 0);
  try {
    failed.get();
    FAIL() << "nothing was thrown";
  } catch (const system_error& error) {
    EXPECT_EQ(error.code(), net::error::eof);
  }
}

// Rule: ASIO-6
TEST(AsioUsePromise, timer_when_it_is_cancelled_then_the_promise_rejects_with_abort_error) {
  net::io_context io;
  net::steady_timer timer(io, std::chrono::hours(1));
  const auto waited = timer.async_wait(use_promise);
  timer.cancel();
  io.run();
  EXPECT_THROW(waited.get(), AbortError);
}

// Rule: ASIO-6
TEST(AsioUsePromise, operation_when_it_was_cancelled_with_an_exception_then_it_is_an_abort_error) {
  const auto cancelled = complete_with<void(std::exception_ptr)>(
      std::make_exception_ptr(system_error(net::error::operation_aborted)));
  EXPECT_THROW(cancelled.get(), AbortError);
}

// Rule: ASIO-6
TEST(AsioUsePromise, handler_when_it_is_destroyed_then_the_promise_rejects) {
  std::optional<net::io_context> io(std::in_place);
  std::optional<net::steady_timer> timer(std::in_place, *io, std::chrono::hours(1));
  const auto waited = timer->async_wait(use_promise);
  timer.reset();
  io.reset();
  EXPECT_THROW(waited.get(), InvalidStateError);
}

// Rule: ASIO-6
TEST(AsioUsePromise, await_when_the_operation_ends_elsewhere_then_it_goes_on_at_its_priority) {
  net::io_context io;
  net::steady_timer timer(io);
  EventLoop loop;
  std::string told;
  const auto task = [&]() -> Promise<void> {
    const auto waited = timer.async_wait(use_promise);
    co_await waited;
    told += "a";
    co_await yield();
    told += "c";
  };
  const auto done = loop.scheduler().post_task(task, {.priority = TaskPriority::background});
  loop.run_until_idle();
  io.run();  // not the loop's agent: nothing of the coroutine runs here
  EXPECT_EQ(told, "");
  loop.scheduler().post([&] { told += "b"; });
  loop.run_until_idle();
  EXPECT_TRUE(done.settled());
  // The continuation of the await is a microtask; what follows its yield is background again.
  EXPECT_EQ(told, "abc");
}

}  // namespace
}  // namespace HEIST_NAMESPACE::asio
