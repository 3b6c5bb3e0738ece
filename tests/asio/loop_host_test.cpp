// LoopHost: one thread serves an io_context and the tasks of a loop, and neither starves.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <heist/asio.hpp>
#include <heist/heist.hpp>
#include <optional>

#include "asio/library_under_test.hpp"
#include "asio/thread_count.hpp"

namespace HEIST_NAMESPACE::asio {
namespace {

class AsioLoopHost : public testing::Test {
 protected:
  TaskContext context;
  net::io_context io;
  EventLoop loop;
  Executor executor{context, loop.scheduler()};
  std::optional<LoopHost> host{std::in_place, io, loop};
};

// Rule: ASIO-7
TEST_F(AsioLoopHost, run_when_timers_and_delays_end_then_one_thread_runs_all_of_it) {
  const auto before = test::thread_count();
  net::steady_timer timer(io, std::chrono::milliseconds(1));
  std::ptrdiff_t during = 0;
  timer.async_wait(net::bind_executor(executor, [&](const error_code& /*error*/) {
    loop.scheduler().post(
        [&] {
          during = test::thread_count();
          io.stop();
        },
        {.delay = std::chrono::milliseconds(1)});
  }));
  io.run();
  EXPECT_EQ(during, before);
}

// Rule: ASIO-7
TEST_F(AsioLoopHost, run_when_both_have_work_without_end_then_neither_starves) {
  int handlers = 0;
  int tasks = 0;
  const auto stop_if_both_ran = [&] {
    if (handlers >= 100 && tasks >= 100) io.stop();
  };
  const std::function<void()> handle = [&] {
    ++handlers;
    net::post(io, std::cref(handle));
    stop_if_both_ran();
  };
  const std::function<void()> work = [&] {
    ++tasks;
    loop.scheduler().post(std::cref(work));
    stop_if_both_ran();
  };
  net::post(io, std::cref(handle));
  loop.scheduler().post(std::cref(work));
  io.run();
  EXPECT_GE(handlers, 100);
  EXPECT_GE(tasks, 100);
}

// Rule: ASIO-7
TEST_F(AsioLoopHost, destroy_when_a_task_does_it_then_the_io_context_has_no_work_left) {
  int ran = 0;
  for (int at = 0; at < 3; ++at) {
    loop.scheduler().post([&] {
      ++ran;
      host.reset();
    });
  }
  io.run();
  EXPECT_EQ(ran, 3);
}

// Rule: ASIO-7
TEST(EventLoopPoll, poll_when_it_has_limits_then_it_runs_no_more_tasks) {
  EventLoop loop;
  for (int at = 0; at < 5; ++at) loop.scheduler().post([] {});
  EXPECT_EQ(loop.poll({.tasks = 3}), 3U);
  EXPECT_EQ(loop.poll({.time = {}}), 1U);
  EXPECT_EQ(loop.poll(TurnLimits()), 1U);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::asio
