// Executor: Asio's handlers are tasks at priorities, and its properties are Asio's.
#include <gtest/gtest.h>

#include <chrono>
#include <heist/asio.hpp>
#include <heist/heist.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "asio/library_under_test.hpp"

namespace HEIST_NAMESPACE::asio {
namespace {

namespace execution = net::execution;

static_assert(execution::is_executor<Executor>::value);
static_assert(std::is_convertible_v<Executor, net::any_io_executor>);
static_assert(net::can_require<Executor, execution::blocking_t::never_t>::value);
static_assert(net::can_require<Executor, execution::blocking_t::possibly_t>::value);
static_assert(net::can_require<Executor, execution::outstanding_work_t::tracked_t>::value);
static_assert(net::can_require<Executor, execution::relationship_t::continuation_t>::value);
static_assert(net::can_require<Executor, PriorityProperty>::value);
static_assert(net::can_query<Executor, execution::occupancy_t>::value);
static_assert(net::can_query<Executor, execution::allocator_t<void>>::value);
static_assert(net::can_query<Executor, execution::mapping_t>::value);

class AsioExecutor : public testing::Test {
 protected:
  auto note(std::string text) {
    return [this, text = std::move(text)] { told += text; };
  }
  Executor at(TaskPriority level) { return net::require(executor, priority(level)); }

  std::string told;
  TaskContext context;
  EventLoop loop;
  Executor executor{context, loop.scheduler()};
};

// Rule: ASIO-1
TEST_F(AsioExecutor, post_when_executors_have_priorities_then_the_most_urgent_handler_runs_first) {
  net::post(at(TaskPriority::background), note("c"));
  net::post(executor, note("b"));
  net::post(net::any_io_executor(at(TaskPriority::user_blocking)), note("a"));
  loop.run_until_idle();
  EXPECT_EQ(told, "abc");
}

// Rule: ASIO-2
TEST_F(AsioExecutor, post_when_the_signal_changes_then_waiting_handlers_follow_its_priority) {
  TaskController controller(TaskPriority::background);
  net::post(net::require(executor, signal(controller.signal())), note("a"));
  net::post(executor, note("b"));
  controller.set_priority(TaskPriority::user_blocking);
  loop.run_until_idle();
  EXPECT_EQ(told, "ab");
}

// Rule: ASIO-2
TEST_F(AsioExecutor, post_when_the_signal_is_aborted_then_handlers_run_all_the_same) {
  TaskController controller;
  const Executor following = net::require(executor, signal(controller.signal()));
  net::post(following, note("a"));
  controller.abort();
  net::post(following, note("b"));
  loop.run_until_idle();
  EXPECT_EQ(told, "ab");
}

// Rule: ASIO-3
TEST_F(AsioExecutor, dispatch_when_a_handler_of_the_scheduler_runs_then_it_is_inline) {
  const Executor possibly = net::require(executor, execution::blocking.possibly);
  net::post(executor, [&] {
    possibly.execute(note("a"));
    told += "b";
    executor.execute(note("c"));
  });
  loop.run_until_idle();
  EXPECT_EQ(told, "abc");
}

// Rule: ASIO-3
TEST_F(AsioExecutor, dispatch_when_something_more_urgent_waits_then_it_is_not_inline) {
  net::post(executor, [&] {
    net::post(at(TaskPriority::user_blocking), note("a"));
    net::require(executor, execution::blocking.possibly).execute(note("b"));
  });
  loop.run_until_idle();
  EXPECT_EQ(told, "ab");
}

// Rule: ASIO-3
TEST_F(AsioExecutor, dispatch_when_the_handler_is_less_urgent_than_what_runs_then_it_waits) {
  net::post(at(TaskPriority::user_blocking), [&] {
    net::post(executor, note("a"));
    net::require(at(TaskPriority::background), execution::blocking.possibly).execute(note("b"));
  });
  loop.run_until_idle();
  EXPECT_EQ(told, "ab");
}

// Rule: ASIO-3
TEST_F(AsioExecutor, dispatch_when_no_handler_runs_then_it_waits_for_the_loop) {
  net::require(executor, execution::blocking.possibly).execute(note("a"));
  EXPECT_EQ(told, "");
  loop.run_until_idle();
  EXPECT_EQ(told, "a");
}

// Rule: ASIO-4
TEST_F(AsioExecutor, tracked_when_copied_moved_and_assigned_then_each_executor_counts_once) {
  Executor tracked = net::prefer(executor, execution::outstanding_work.tracked);
  EXPECT_EQ(context.outstanding_work(), 1U);
  Executor copy = tracked;
  EXPECT_EQ(context.outstanding_work(), 2U);
  const Executor moved = std::move(copy);
  EXPECT_EQ(context.outstanding_work(), 2U);
  Executor assigned = executor;
  assigned = moved;
  EXPECT_EQ(context.outstanding_work(), 3U);
  assigned = std::move(tracked);
  EXPECT_EQ(context.outstanding_work(), 2U);
  assigned = net::require(assigned, execution::outstanding_work.untracked);
  EXPECT_EQ(context.outstanding_work(), 1U);
}

// Rule: ASIO-4
TEST_F(AsioExecutor, operation_when_it_waits_for_a_handler_of_the_executor_then_that_is_work) {
  net::io_context io;
  net::steady_timer timer(io);
  timer.expires_after(std::chrono::hours(1));
  timer.async_wait(net::bind_executor(executor, [](const error_code& /*error*/) {}));
  EXPECT_GE(context.outstanding_work(), 1U);
  timer.cancel();
  io.run();
  loop.run_until_idle();
  EXPECT_EQ(context.outstanding_work(), 0U);
}

// Rule: ASIO-1
TEST_F(AsioExecutor, query_when_properties_were_required_then_it_gives_them) {
  const Executor changed =
      net::require(at(TaskPriority::background), execution::blocking.possibly,
                   execution::relationship.continuation, execution::outstanding_work.tracked);
  EXPECT_EQ(net::query(changed, PriorityProperty()), TaskPriority::background);
  EXPECT_EQ(net::query(changed, execution::blocking), execution::blocking.possibly);
  EXPECT_EQ(net::query(changed, execution::relationship), execution::relationship.continuation);
  EXPECT_EQ(net::query(changed, execution::outstanding_work), execution::outstanding_work.tracked);
  EXPECT_EQ(&net::query(changed, execution::context), &context);
  EXPECT_EQ(net::query(changed, execution::occupancy), 1U);
  EXPECT_NE(changed, executor);
}

// Rule: ASIO-5
TEST_F(AsioExecutor, post_when_a_handler_throws_then_the_error_hook_hears_of_it) {
  static int errors;
  errors = 0;
  const ErrorHook former =
      set_error_hook([](ErrorOrigin /*origin*/, const Reason& /*reason*/) noexcept { ++errors; });
  net::post(executor, [] { throw std::runtime_error("expected"); });
  net::post(executor, [&] {
    net::require(executor, execution::blocking.possibly).execute([] {
      throw std::runtime_error("expected");
    });
    told += "a";
  });
  loop.run_until_idle();
  set_error_hook(former);
  EXPECT_EQ(errors, 2);
  EXPECT_EQ(told, "a");
}

// Rule: ASIO-5
TEST_F(AsioExecutor, post_when_the_loop_is_closed_then_the_handler_is_destroyed) {
  loop.close(CloseMode::abort());
  auto owned = std::make_shared<int>(0);
  executor.execute([owned] { ++*owned; });
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_EQ(*owned, 0);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::asio
