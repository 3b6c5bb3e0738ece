// bind_abort_signal: an abort cancels an operation on its handler's executor, never elsewhere.
#include <gtest/gtest.h>

#include <chrono>
#include <heist/asio.hpp>
#include <heist/heist.hpp>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

#include "asio/library_under_test.hpp"

namespace HEIST_NAMESPACE::asio {
namespace {

class AsioAbort : public testing::Test {
 protected:
  auto note() {
    return [this](const error_code& error) {
      ended = error;
      thread = std::this_thread::get_id();
    };
  }
  net::io_context io;
  net::steady_timer timer{io, std::chrono::hours(1)};
  AbortController controller;
  error_code ended = net::error::eof;
  std::thread::id thread;
};

// Rule: ASIO-8
TEST_F(AsioAbort, abort_when_an_operation_waits_then_it_is_cancelled_on_its_executor) {
  timer.async_wait(bind_abort_signal(controller.signal(), note()));
  std::thread([&] { controller.abort(); }).join();
  EXPECT_EQ(ended, net::error::eof);
  io.run();
  EXPECT_EQ(ended, net::error::operation_aborted);
  EXPECT_EQ(thread, std::this_thread::get_id());
}

// Rule: ASIO-8
TEST_F(AsioAbort, start_when_the_signal_is_aborted_then_the_operation_is_cancelled) {
  controller.abort();
  const auto waited = timer.async_wait(bind_abort_signal(controller.signal(), use_promise));
  io.run();
  EXPECT_THROW(waited.get(), AbortError);
}

// Rule: ASIO-8
TEST_F(AsioAbort, abort_when_the_operation_is_complete_then_it_does_nothing) {
  timer.expires_after(std::chrono::seconds(0));
  timer.async_wait(bind_abort_signal(controller.signal(), note()));
  io.run();
  controller.abort();
  io.restart();
  EXPECT_EQ(io.run(), 0U);
  EXPECT_EQ(ended, error_code());
}

// Rule: ASIO-8
TEST_F(AsioAbort, cancel_when_the_handler_has_a_slot_then_it_is_told_as_well) {
  net::cancellation_signal own;
  timer.async_wait(
      bind_abort_signal(controller.signal(), net::bind_cancellation_slot(own.slot(), note())));
  net::post(io, [&] { own.emit(net::cancellation_type::terminal); });
  io.run();
  EXPECT_EQ(ended, net::error::operation_aborted);
  EXPECT_FALSE(own.slot().has_handler());
}

// Rule: ASIO-8
TEST_F(AsioAbort, abort_when_it_comes_from_the_executor_then_nothing_happens_within_it) {
  timer.async_wait(bind_abort_signal(controller.signal(), note()));
  net::post(io, [&] {
    controller.abort();
    EXPECT_EQ(ended, net::error::eof);
  });
  io.run();
  EXPECT_EQ(ended, net::error::operation_aborted);
}

// Rule: ASIO-8
TEST_F(AsioAbort, start_when_the_token_has_a_name_then_each_operation_has_a_copy) {
  const auto count = std::make_shared<int>(0);
  auto token = bind_abort_signal(controller.signal(), [count](const error_code&) { ++*count; });
  const auto fixed = token;
  timer.async_wait(token);
  timer.async_wait(token);
  timer.async_wait(fixed);
  controller.abort();
  io.run();
  EXPECT_EQ(*count, 3);
}

// Rule: ASIO-8
TEST_F(AsioAbort, start_when_the_operation_was_deferred_then_an_abort_cancels_it) {
  auto operation = timer.async_wait(bind_abort_signal(controller.signal(), deferred));
  std::move(operation)(note());
  controller.abort();
  io.run();
  EXPECT_EQ(ended, net::error::operation_aborted);
}

// Rule: ASIO-8
TEST_F(AsioAbort, start_when_the_signal_was_moved_from_then_nothing_is_started) {
  AbortSignal signal = controller.signal();
  const AbortSignal taken = std::move(signal);
  EXPECT_THROW(timer.async_wait(bind_abort_signal(signal, note())), std::invalid_argument);
  EXPECT_EQ(timer.cancel(), 0U);
}

// Rule: ASIO-8
TEST_F(AsioAbort, emit_when_a_slot_has_a_controller_then_it_aborts) {
  net::cancellation_signal cancellation;
  abort_by_slot(cancellation.slot(), controller);
  cancellation.emit(net::cancellation_type::terminal);
  EXPECT_TRUE(controller.signal().aborted());
}

// Rule: ASIO-8
TEST_F(AsioAbort, abort_when_operations_end_at_the_same_time_then_each_ends_once) {
  constexpr int count = 500;
  int handlers = 0;
  const auto work = net::make_work_guard(io);
  std::thread server([&] { io.run(); });
  for (int at = 0; at < count; ++at) {
    AbortController own;
    net::steady_timer brief(io, std::chrono::microseconds(20));
    auto ending = brief.async_wait(bind_abort_signal(own.signal(), use_promise));
    own.abort();
    if (ending.wait_for(std::chrono::seconds(60))) ++handlers;
    static_cast<void>(ending.reason());
  }
  io.stop();
  server.join();
  EXPECT_EQ(handlers, count);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::asio
