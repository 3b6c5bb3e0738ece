// Coroutines of Asio on an Executor, and what they await of heist.
#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <heist/asio.hpp>
#include <heist/heist.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "asio/library_under_test.hpp"

// Standalone Asio 1.22 has them with g++ only.
#if defined(ASIO_HAS_CO_AWAIT) || defined(BOOST_ASIO_HAS_CO_AWAIT)

namespace HEIST_NAMESPACE::asio {
namespace {

// Coroutines that know the type of their executor. The counts of any_io_executor have a fence in
// these versions of Asio, which ThreadSanitizer does not understand.
template <class T>
using Awaitable = net::awaitable<T, Executor>;
template <class T>
using SerialAwaitable = net::awaitable<T, net::strand<Executor>>;
template <class T>
using IoAwaitable = net::awaitable<T, net::io_context::executor_type>;
constexpr net::use_awaitable_t<Executor> as_awaitable;
constexpr net::use_awaitable_t<net::strand<Executor>> as_serial_awaitable;
constexpr net::use_awaitable_t<net::io_context::executor_type> as_io_awaitable;

class AsioAwaitable : public testing::TestWithParam<unsigned> {
 protected:
  ~AsioAwaitable() override {
    io.stop();
    server.join();
  }

  TaskContext context;
  net::io_context io;
  net::executor_work_guard<net::io_context::executor_type> work{io.get_executor()};
  std::thread server{[this] { io.run(); }};
  AgentCluster cluster{{.agents = GetParam()}};
  Executor executor{context, cluster};
};
INSTANTIATE_TEST_SUITE_P(Agents, AsioAwaitable, testing::Values(1U, 2U, 8U));

Awaitable<int> add(net::io_context& io, int count) {
  net::steady_timer timer(io);
  for (int at = 0; at < count; ++at) {
    timer.expires_after(std::chrono::microseconds(at));
    co_await timer.async_wait(as_awaitable);
  }
  co_return count;
}

// Rule: ASIO-1
TEST_P(AsioAwaitable, co_spawn_when_it_is_on_the_executor_then_the_coroutine_goes_on_there) {
  const auto where = [&]() -> Awaitable<bool> {
    const Scheduler scheduler = cluster.scheduler();
    const bool before = Scheduler::current() == scheduler;
    net::steady_timer timer(io);
    timer.expires_after(std::chrono::microseconds(10));
    co_await timer.async_wait(as_awaitable);
    const bool after = Scheduler::current() == scheduler;
    co_return before&& after;
  };
  const auto at = net::require(executor, priority(TaskPriority::user_blocking));
  EXPECT_TRUE(net::co_spawn(at, where, use_promise).get());
}

// Rule: ASIO-1
TEST_P(AsioAwaitable, co_spawn_when_many_coroutines_run_then_each_ends) {
  std::vector<Promise<int>> sums;
  for (int at = 0; at < 200; ++at) {
    sums.push_back(net::co_spawn(executor, add(io, 10), use_promise));
  }
  for (const Promise<int>& sum : sums) EXPECT_EQ(sum.get(), 10);
}

// Rule: ASIO-6
TEST_P(AsioAwaitable, co_spawn_when_the_coroutine_throws_then_the_promise_rejects) {
  const auto failing = []() -> Awaitable<void> {
    throw std::runtime_error("expected");
    co_return;
  };
  EXPECT_THROW(net::co_spawn(executor, failing, use_promise).get(), std::runtime_error);
}

// Rule: ASIO-8
TEST_P(AsioAwaitable, co_spawn_when_the_signal_aborts_then_what_the_coroutine_awaits_is_cancelled) {
  const auto waiting = [&]() -> SerialAwaitable<void> {
    net::steady_timer timer(io, std::chrono::hours(1));
    co_await timer.async_wait(as_serial_awaitable);
  };
  for (int at = 0; at < 200; ++at) {
    AbortController controller;
    const auto ended = net::co_spawn(net::make_strand(executor), waiting,
                                     bind_abort_signal(controller.signal(), use_promise));
    controller.abort();
    EXPECT_THROW(ended.get(), AbortError);
  }
}

// Rule: ASIO-8, ASIO-9
TEST_P(AsioAwaitable, async_wait_when_the_signal_aborts_then_only_the_wait_ends) {
  const auto waiting = [](Promise<int> promise, AbortSignal signal) -> SerialAwaitable<void> {
    co_await async_wait(promise, bind_abort_signal(signal, as_serial_awaitable));
  };
  for (int at = 0; at < 200; ++at) {
    AbortController controller;
    auto [promise, resolver] = Promise<int>::with_resolver();
    const auto ended = net::co_spawn(net::make_strand(executor),
                                     waiting(promise, controller.signal()), use_promise);
    controller.abort();
    EXPECT_THROW(ended.get(), AbortError);
    resolver.resolve(at);
    EXPECT_EQ(promise.get(), at);
  }
}

// Rule: ASIO-9
TEST_P(AsioAwaitable, async_wait_when_a_coroutine_of_asio_awaits_then_it_has_the_value_or_error) {
  const auto outer = [&](const Scheduler& scheduler) -> IoAwaitable<std::string> {
    auto good = scheduler.post_task([] { return std::string("value"); });
    std::string told = co_await async_wait(good, as_io_awaitable);
    auto bad = scheduler.post_task([] { throw std::runtime_error(" and error"); });
    try {
      co_await async_wait(bad, as_io_awaitable);
    } catch (const std::runtime_error& error) {
      told += error.what();
    }
    co_return told;
  };
  EXPECT_EQ(net::co_spawn(io, outer(cluster.scheduler()), use_promise).get(), "value and error");
}

}  // namespace
}  // namespace HEIST_NAMESPACE::asio

#endif
