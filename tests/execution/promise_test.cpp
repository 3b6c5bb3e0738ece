// as_sender, to_promise, and co_await of a sender.
#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "execution/probe.hpp"

namespace heist::execution {
namespace {

/// Notes what a sender completes with.
template <class T>
struct Outcome {
  std::optional<T> value;
  std::exception_ptr error;
  bool stopped = false;
  int ends = 0;

  [[nodiscard]] auto receiver() { return Noting{this}; }

  struct Noting {
    using receiver_concept = ReceiverTag;
    Outcome* to;
    template <class Value>
    void set_value(Value&& given) noexcept {
      ++to->ends;
      to->value.emplace(std::forward<Value>(given));
    }
    void set_error(std::exception_ptr given) noexcept {
      ++to->ends;
      to->error = std::move(given);
    }
    void set_stopped() noexcept {
      ++to->ends;
      to->stopped = true;
    }
  };
};

template <class T>
Outcome<T> outcome_of(Promise<T> promise) {
  Outcome<T> outcome;
  auto operation = ex::connect(as_sender(std::move(promise)), outcome.receiver());
  ex::start(operation);
  return outcome;
}

// Rule: SND-6
TEST(AsSender, start_when_the_promise_is_settled_then_it_completes_at_once_on_a_plain_thread) {
  EXPECT_EQ(outcome_of(Promise<int>::resolved(7)).value, 7);
  EXPECT_EQ(
      *outcome_of(Promise<std::unique_ptr<int>>::resolved(std::make_unique<int>(7))).value.value(),
      7);
}

// Rule: SND-6
TEST(AsSender, resolve_when_an_operation_waits_then_it_completes_once_on_that_thread) {
  auto [promise, resolver] = Promise<int>::with_resolver();
  Outcome<int> outcome;
  auto operation = ex::connect(as_sender(promise), outcome.receiver());
  ex::start(operation);
  EXPECT_EQ(outcome.ends, 0);
  std::thread([&, settling = std::move(resolver)]() mutable { settling.resolve(7); }).join();
  EXPECT_EQ(outcome.value, 7);
  EXPECT_EQ(outcome.ends, 1);
}

// Rule: SND-6
TEST(AsSender, reject_when_the_reason_is_an_error_then_it_is_the_error) {
  const auto failed = outcome_of(Promise<int>::rejected(Reason(std::runtime_error("no"))));
  EXPECT_THROW(std::rethrow_exception(failed.error), std::runtime_error);
  const auto late = outcome_of(Promise<int>::rejected_by_abort(Reason(TimeoutError())));
  EXPECT_THROW(std::rethrow_exception(late.error), TimeoutError);
  const auto plain = outcome_of(Promise<int>::rejected(Reason(5)));
  try {
    std::rethrow_exception(plain.error);
  } catch (const Aborted& aborted) {
    EXPECT_EQ(*aborted.reason().value<int>(), 5);
  }
}

// Rule: SND-6
TEST(AsSender, reject_when_the_reason_is_an_abort_then_it_is_stopped) {
  EXPECT_TRUE(outcome_of(Promise<int>::rejected(Reason(AbortError()))).stopped);
  EXPECT_TRUE(outcome_of(Promise<int>::rejected_by_abort(Reason(5))).stopped);
  EventLoop loop;
  TaskController controller;
  const auto task = loop.scheduler().post_task([] { return 7; }, {.signal = controller.signal()});
  Outcome<int> outcome;
  auto operation = ex::connect(as_sender(task), outcome.receiver());
  ex::start(operation);
  controller.abort();
  EXPECT_TRUE(outcome.stopped);
  EXPECT_EQ(outcome.ends, 1);
}

// Rule: SND-6
TEST(AsSender, start_when_a_move_only_value_was_taken_then_it_is_an_error) {
  const auto promise = Promise<std::unique_ptr<int>>::resolved(std::make_unique<int>(7));
  EXPECT_TRUE(outcome_of(promise).value);
  EXPECT_THROW(std::rethrow_exception(outcome_of(promise).error), InvalidStateError);
}

// Rule: LIF-6
TEST(AsSender, as_sender_when_the_handle_was_moved_from_then_it_throws) {
  auto gone = Promise<int>::resolved(7);
  const auto kept = std::move(gone);
  EXPECT_THROW(static_cast<void>(as_sender(gone)), std::invalid_argument);
}

class ToPromise : public testing::Test {
 protected:
  EventLoop loop;
  Scheduler scheduler = loop.scheduler();
};

// Rule: SND-7
TEST_F(ToPromise, to_promise_when_it_completes_then_the_promise_has_the_value) {
  const auto one = to_promise(scheduler, ex::just(7));
  const auto none = to_promise(scheduler, ex::just());
  const auto two = to_promise(scheduler, ex::just(7, std::string("a")));
  static_assert(std::is_same_v<decltype(none), const Promise<void>>);
  EXPECT_FALSE(one.settled());
  EXPECT_EQ(loop.run_until_idle(), 3U);
  EXPECT_EQ(one.get(), 7);
  EXPECT_TRUE(none.settled());
  EXPECT_EQ(two.get(), std::tuple(7, std::string("a")));
}

// Rule: SND-7
TEST_F(ToPromise, to_promise_when_it_waits_for_several_then_the_promise_is_settled_after_all) {
  const auto step = ex::schedule(as_scheduler(scheduler));
  const auto all = to_promise(scheduler, ex::when_all(step, step));
  EXPECT_EQ(loop.run_until_idle(), 3U);
  EXPECT_NO_THROW(all.get());
}

// Rule: SND-7
TEST_F(ToPromise, to_promise_when_a_step_throws_then_the_promise_is_rejected) {
  const auto failed =
      to_promise(scheduler, ex::just() | ex::then([] { throw std::runtime_error("no"); }));
  loop.run_until_idle();
  EXPECT_THROW(failed.get(), std::runtime_error);
}

// Rule: SND-7
TEST_F(ToPromise, to_promise_when_it_is_stopped_then_the_promise_is_rejected_with_abort_error) {
  TaskController controller;
  const auto stopped =
      to_promise(scheduler, ex::schedule(as_scheduler(scheduler, controller.signal())));
  controller.abort();
  loop.run_until_idle();
  EXPECT_THROW(stopped.get(), AbortError);
}

// Rule: SND-7
TEST_F(ToPromise, close_when_the_sender_has_not_started_then_the_promise_is_rejected) {
  const auto dropped = to_promise(scheduler, ex::just(7));
  loop.close(CloseMode::abort());
  EXPECT_THROW(dropped.get(), AbortError);
  EXPECT_THROW(to_promise(scheduler, ex::just(7)).get(), InvalidStateError);
}

// Rule: SND-7
TEST_F(ToPromise, co_await_when_a_coroutine_awaits_a_sender_then_it_goes_on_in_its_task) {
  std::string told;
  const auto coroutine = [&]() -> Promise<int> {
    const auto urgent = as_scheduler(scheduler, TaskPriority::user_blocking);
    co_await ex::schedule(urgent);
    const int value = co_await (ex::schedule(urgent) | ex::then([] { return 7; }));
    told = Scheduler::current() == scheduler ? "task" : "?";
    co_return value;
  };
  const auto done = scheduler.post_task(coroutine, {.priority = TaskPriority::background});
  loop.run_until_idle();
  EXPECT_EQ(done.get(), 7);
  EXPECT_EQ(told, "task");
}

// Rule: SND-7
TEST_F(ToPromise, co_await_when_the_sender_fails_or_stops_then_it_throws) {
  TaskController controller;
  std::string told;
  const auto coroutine = [&]() -> Promise<void> {
    try {
      co_await (ex::just() | ex::then([] { throw std::runtime_error("no"); }));
    } catch (const std::runtime_error&) {
      told += "failed ";
    }
    controller.abort();
    try {
      co_await ex::schedule(as_scheduler(scheduler, controller.signal()));
    } catch (const AbortError&) {
      told += "stopped";
    }
  };
  const auto done = scheduler.post_task(coroutine);
  loop.run_until_idle();
  EXPECT_TRUE(done.settled());
  EXPECT_EQ(told, "failed stopped");
}

// Rule: SND-5
TEST_F(ToPromise, co_await_when_it_hops_to_a_closed_loop_then_it_throws_abort_error) {
  EventLoop closed;
  closed.close(CloseMode::abort());
  const auto hop = [&](auto sender) -> Promise<void> { co_await sender; };
  const auto there = as_scheduler(closed.scheduler());
  const auto at_once = scheduler.post_task([&] { return hop(ex::schedule(there)); });
  const auto later =
      scheduler.post_task([&] { return hop(there.schedule_after(std::chrono::milliseconds(1))); });
  loop.run_until_idle();
  EXPECT_THROW(at_once.get(), AbortError);
  EXPECT_THROW(later.get(), AbortError);
}

// Rule: SND-5
TEST_F(ToPromise, to_promise_when_it_hops_to_a_closed_cluster_then_it_is_rejected) {
  AgentCluster closed({.agents = 2});
  closed.close(CloseMode::abort());
  const auto step = ex::just() | ex::then([] {});
  const auto hop = to_promise(
      scheduler, ex::continues_on(step, as_scheduler(closed.scheduler())) | ex::then([] {}));
  loop.run_until_idle();
  EXPECT_THROW(hop.get(), AbortError);
}

// Rule: SND-5
TEST_F(ToPromise, close_when_a_coroutine_has_hopped_then_its_await_throws_abort_error) {
  EventLoop other;
  const auto coroutine = [&]() -> Promise<void> {
    co_await ex::schedule(as_scheduler(other.scheduler()));
  };
  const auto done = scheduler.post_task(coroutine);
  loop.run_until_idle();
  EXPECT_FALSE(done.settled());
  other.close(CloseMode::abort());
  loop.run_until_idle();
  EXPECT_THROW(done.get(), AbortError);
}

// Rule: SND-7
TEST_F(ToPromise, co_await_when_no_loop_runs_here_then_it_throws) {
  const auto coroutine = []() -> Promise<void> { co_await ex::just(); };
  EXPECT_THROW(coroutine().get(), NotAllowedError);
}

}  // namespace
}  // namespace heist::execution
