// async_wait: handlers, coroutines and promises of Asio wait for a promise of heist.
#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <heist/asio.hpp>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "asio/library_under_test.hpp"

namespace HEIST_NAMESPACE::asio {
namespace {

/// The error that an exception has, or none.
error_code code_of(const std::exception_ptr& error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const system_error& failed) {
    return failed.code();
  }
  return {};
}

/// Has no memory, and counts how often it was asked for some.
template <class T>
struct NoAllocator {
  using value_type = T;
  template <class Other>
  explicit NoAllocator(const NoAllocator<Other>& other) noexcept : asked(other.asked) {}
  explicit NoAllocator(int& count) noexcept : asked(&count) {}
  [[nodiscard]] T* allocate(std::size_t /*count*/) const {
    ++*asked;
    throw std::bad_alloc();
  }
  void deallocate(T* /*memory*/, std::size_t /*count*/) const noexcept {}
  friend bool operator==(const NoAllocator& one, const NoAllocator& other) noexcept = default;

  int* asked;
};

class AsioAsyncWait : public testing::Test {
 protected:
  ~AsioAsyncWait() override { pair.resolver.resolve(0); }  // if the test has not
  template <class HandlerExecutor>
  auto note_on(const HandlerExecutor& executor) {
    return net::bind_executor(executor, [this](std::exception_ptr failed, int number) {
      ++calls;
      error = std::move(failed);
      value = number;
      thread = std::this_thread::get_id();
    });
  }
  auto note() { return note_on(io.get_executor()); }

  net::io_context io;
  PromiseWithResolver<int> pair = Promise<int>::with_resolver();
  net::cancellation_signal cancellation;
  int calls = 0;
  int value = 0;
  std::exception_ptr error;
  std::thread::id thread;
};

// Rule: ASIO-9
TEST_F(AsioAsyncWait, wait_when_another_thread_settles_then_the_executor_calls_the_handler) {
  async_wait(pair.promise, note());
  std::thread settler([&] { pair.resolver.resolve(7); });
  io.run();  // it has work until then
  settler.join();
  EXPECT_EQ(value, 7);
  EXPECT_EQ(error, nullptr);
  EXPECT_EQ(thread, std::this_thread::get_id());
}

// Rule: ASIO-9
TEST_F(AsioAsyncWait, wait_when_the_promise_is_settled_then_the_handler_is_not_called_within_it) {
  async_wait(Promise<int>::resolved(7), note());
  EXPECT_EQ(calls, 0);
  io.run();
  EXPECT_EQ(value, 7);
}

// Rule: ASIO-9
TEST_F(AsioAsyncWait, wait_when_the_promise_rejects_then_the_handler_gets_the_exception) {
  async_wait(pair.promise, note());
  pair.resolver.reject(Reason(std::runtime_error("expected")));
  io.run();
  EXPECT_THROW(std::rethrow_exception(error), std::runtime_error);
}

// Rule: ASIO-9
TEST_F(AsioAsyncWait, wait_when_the_task_is_aborted_then_the_handler_gets_operation_aborted) {
  EventLoop loop;
  AbortController controller;
  async_wait(loop.scheduler().post_task([] { return 1; }, {.signal = controller.signal()}), note());
  controller.abort();
  io.run();
  EXPECT_EQ(code_of(error), net::error::operation_aborted);
}

// Rule: ASIO-9
TEST_F(AsioAsyncWait, wait_when_the_value_is_move_only_or_void_then_the_handler_has_it) {
  std::unique_ptr<int> moved;
  bool called = false;
  async_wait(Promise<std::unique_ptr<int>>::resolved(std::make_unique<int>(3)),
             net::bind_executor(io, [&](const std::exception_ptr& /*error*/,
                                        std::unique_ptr<int> given) { moved = std::move(given); }));
  async_wait(Promise<void>::resolved(),
             net::bind_executor(
                 io, [&](const std::exception_ptr& failed) { called = failed == nullptr; }));
  io.run();
  ASSERT_NE(moved, nullptr);
  EXPECT_EQ(*moved, 3);
  EXPECT_TRUE(called);
}

// Rule: ASIO-9
TEST_F(AsioAsyncWait, wait_when_the_handler_is_on_a_strand_of_a_loop_then_it_is_called_there) {
  TaskContext context;
  EventLoop loop;
  const auto strand = net::make_strand(Executor(context, loop.scheduler()));
  async_wait(pair.promise,
             net::bind_executor(strand, [&](const std::exception_ptr& /*error*/, int number) {
               if (strand.running_in_this_thread()) value = number;
             }));
  EXPECT_EQ(context.outstanding_work(), 1U);
  pair.resolver.resolve(7);
  loop.run_until_idle();
  EXPECT_EQ(value, 7);
  EXPECT_EQ(context.outstanding_work(), 0U);
}

// Rule: ASIO-9
TEST_F(AsioAsyncWait, wait_when_the_executor_is_one_of_the_networking_ts_then_it_has_work) {
  async_wait(pair.promise, note_on(net::io_context::strand(io)));
  std::thread settler([&] { pair.resolver.resolve(7); });
  io.run();
  settler.join();
  EXPECT_EQ(value, 7);
}

// Rule: ASIO-9
TEST_F(AsioAsyncWait, wait_when_the_promise_was_moved_from_then_it_is_refused) {
  const Promise<int> taken = std::move(pair.promise);
  EXPECT_THROW(async_wait(pair.promise, note()), std::invalid_argument);
}

// Rule: ASIO-9
TEST_F(AsioAsyncWait, wait_when_its_token_is_use_promise_then_that_follows_the_promise) {
  const auto again = async_wait(pair.promise, use_promise);
  pair.resolver.resolve(7);
  EXPECT_EQ(again.get(), 7);
}

// Rule: ASIO-9
TEST_F(AsioAsyncWait, cancel_when_the_promise_is_pending_then_only_the_wait_ends) {
  async_wait(pair.promise, net::bind_cancellation_slot(cancellation.slot(), note()));
  cancellation.emit(net::cancellation_type::total);
  EXPECT_EQ(calls, 0);
  io.run();
  EXPECT_EQ(code_of(error), net::error::operation_aborted);
  EXPECT_FALSE(cancellation.slot().has_handler());
  pair.resolver.resolve(7);
  io.restart();
  EXPECT_EQ(io.run(), 0U);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(pair.promise.get(), 7);
}

// Rule: ASIO-9
TEST_F(AsioAsyncWait, cancel_when_the_promise_is_settled_then_the_handler_gets_its_value) {
  async_wait(pair.promise, net::bind_cancellation_slot(cancellation.slot(), note()));
  pair.resolver.resolve(7);
  cancellation.emit(net::cancellation_type::terminal);
  io.run();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(value, 7);
}

// Rule: ASIO-9
TEST_F(AsioAsyncWait, end_when_there_is_no_memory_then_an_io_context_calls_the_handler) {
  int asked = 0;
  const auto without_memory = [&](auto handler) {
    return net::bind_allocator(NoAllocator<void>(asked), std::move(handler));
  };
  async_wait(pair.promise, without_memory(note()));
  async_wait(pair.promise,
             without_memory(net::bind_cancellation_slot(cancellation.slot(), note())));
  cancellation.emit(net::cancellation_type::total);
  pair.resolver.resolve(7);
  io.run();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(value, 7);
  EXPECT_EQ(asked, 0);
}

// Rule: ASIO-9
TEST_F(AsioAsyncWait, context_when_it_goes_before_the_handler_is_called_then_the_handler_goes) {
  const auto kept = std::make_shared<int>(0);
  std::optional<net::io_context> other(std::in_place);
  const auto handler = [&] {
    return net::bind_executor(
        *other, [kept](const std::exception_ptr& /*error*/, int /*value*/) { ++*kept; });
  };
  async_wait(Promise<int>::resolved(7), handler());
  async_wait(pair.promise, net::bind_cancellation_slot(cancellation.slot(), handler()));
  cancellation.emit(net::cancellation_type::total);
  other.reset();
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_EQ(*kept, 0);
}

// Rule: ASIO-9
TEST_F(AsioAsyncWait, post_when_the_executor_throws_then_the_error_hook_hears_of_it) {
  static int errors;
  errors = 0;
  const ErrorHook former =
      set_error_hook([](ErrorOrigin /*origin*/, const Reason& /*reason*/) noexcept { ++errors; });
  TaskContext context;
  EventLoop loop;
  const Executor wrong =
      net::require(Executor(context, loop.scheduler()), priority(static_cast<TaskPriority>(9)));
  async_wait(pair.promise, net::bind_executor(wrong, [&](const std::exception_ptr& /*error*/,
                                                         int /*value*/) { ++calls; }));
  pair.resolver.resolve(7);
  set_error_hook(former);
  EXPECT_EQ(errors, 1);
  EXPECT_EQ(calls, 0);
}

// Rule: ASIO-9
TEST(AsioAsyncWaits, cancel_when_others_settle_at_the_same_time_then_each_wait_ends_once) {
  constexpr int count = 2'000;
  AgentCluster cluster({.agents = 2});
  net::io_context io;
  int ended = 0;
  for (int at = 0; at < count; ++at) {
    net::cancellation_signal cancellation;
    auto [promise, resolver] = Promise<int>::with_resolver();
    std::atomic<bool> settles{false};
    cluster.scheduler().post([&settles, resolver = std::move(resolver)]() mutable {
      settles.store(true);
      resolver.resolve(1);
    });
    const auto end = [&](const std::exception_ptr& error, int value) {
      ++ended;
      EXPECT_EQ(value == 1, error == nullptr);
    };
    async_wait(promise,
               net::bind_cancellation_slot(cancellation.slot(), net::bind_executor(io, end)));
    while (!settles.load()) std::this_thread::yield();
    cancellation.emit(net::cancellation_type::terminal);
    io.restart();
    io.run();
    EXPECT_EQ(promise.get(), 1);
  }
  EXPECT_EQ(ended, count);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::asio
