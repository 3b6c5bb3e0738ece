// Rule: PRO-1 (coroutines that return a Promise), YLD-4 (where they resume), ABT-1.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/probes.hpp"

namespace heist {
namespace {

using namespace std::chrono_literals;
using test::LoopTest;
using test::Trace;
using Probe = std::shared_ptr<int>;

class Pro1Coroutine : public LoopTest {};

Promise<int> start_then_await(Trace& trace, Promise<int> source) {
  trace.emplace_back("started");
  const int value = co_await source;
  trace.emplace_back("resumed");
  co_return value + 1;
}

// Rule: PRO-1 ("start eagerly")
TEST_F(Pro1Coroutine, coroutine_when_called_then_runs_to_its_first_await_at_once) {
  run_task([this] {
    static_cast<void>(start_then_await(trace, Promise<int>::resolved(1)));
    trace.emplace_back("returned");
  });
  EXPECT_EQ(trace, (Trace{"started", "returned", "resumed"}));
}

// Rule: PRO-1
TEST_F(Pro1Coroutine, await_when_pending_then_resumes_with_the_value_once_it_settles) {
  auto [source, resolver] = Promise<int>::with_resolver();
  auto result = Promise<int>::resolved(0);
  run_task([&, source] { result = start_then_await(trace, source); });
  EXPECT_EQ(result.status(), PromiseStatus::pending);
  run_task([&] { resolver.resolve(41); });
  EXPECT_EQ(result.get(), 42);
}

// Rule: PRO-1, YLD-4
TEST_F(Pro1Coroutine, await_when_settled_already_then_resumes_one_microtask_later) {
  run_task([this] {
    static_cast<void>(start_then_await(trace, Promise<int>::resolved(1)));
    queue_microtask(note("microtask queued after the await"));
    trace.emplace_back("end of task");
  });
  EXPECT_EQ(trace,
            (Trace{"started", "end of task", "resumed", "microtask queued after the await"}));
}

// Rule: PRO-1
TEST_F(Pro1Coroutine, await_when_several_coroutines_wait_for_one_promise_then_resume_in_order) {
  auto [source, resolver] = Promise<int>::with_resolver();
  Trace first;
  run_task([&, source] {
    static_cast<void>(
        start_then_await(trace, source).then([this](int) { trace.emplace_back("1"); }));
    static_cast<void>(
        start_then_await(trace, source).then([this](int) { trace.emplace_back("2"); }));
  });
  trace.clear();
  run_task([&] { resolver.resolve(1); });
  EXPECT_EQ(trace, (Trace{"resumed", "resumed", "1", "2"}));
}

Promise<std::string> join(Promise<std::unique_ptr<int>> number, Promise<void> nothing,
                          Promise<std::string&> text) {
  const std::unique_ptr<int> value = co_await number.taken();
  co_await nothing;
  std::string& target = co_await text;
  target += std::to_string(*value);
  co_return target;
}

// Rule: PRO-1
TEST_F(Pro1Coroutine, await_when_value_is_move_only_void_or_a_reference_then_it_arrives) {
  std::string text = "n=";
  auto result = Promise<std::string>::resolved("");
  run_task([&] {
    result = join(scheduler.post_task([] { return std::make_unique<int>(5); }),
                  scheduler.post_task([] {}),
                  scheduler.post_task([&text]() -> std::string& { return text; }));
  });
  EXPECT_EQ(result.get(), "n=5");
  EXPECT_EQ(text, "n=5");
}

Promise<int> await_lvalue(Promise<std::unique_ptr<int>> source) {
  const std::unique_ptr<int> value = co_await source;
  co_return *value;
}

// Rule: PRO-1 (a move-only value is not torn from the other holders of a promise)
TEST_F(Pro1Coroutine,
       await_when_a_move_only_value_is_awaited_through_an_lvalue_then_invalid_state) {
  auto result = Promise<int>::resolved(0);
  run_task(
      [&] { result = await_lvalue(scheduler.post_task([] { return std::make_unique<int>(5); })); });
  EXPECT_TRUE(test::is<InvalidStateError>(result.reason()));
}

Promise<int&> refer(int& target) { co_return target; }
Promise<std::unique_ptr<int>> make(int value) { co_return std::make_unique<int>(value); }
Promise<void> finish() { co_return; }

// Rule: PRO-1
TEST_F(Pro1Coroutine, coroutine_when_it_never_waits_then_its_promise_is_settled_on_return) {
  int target = 1;
  EXPECT_EQ(&refer(target).get(), &target);
  EXPECT_EQ(*make(2).get(), 2);
  EXPECT_EQ(finish().status(), PromiseStatus::fulfilled);
}

Promise<void> fail(Promise<void> source) {
  co_await source;
  throw std::out_of_range("from the body");
}

// Rule: PRO-1, PRO-2
TEST_F(Pro1Coroutine, coroutine_when_its_body_throws_then_its_promise_rejects_with_that) {
  auto result = Promise<void>::resolved();
  run_task([&] { result = fail(Promise<void>::resolved()); });
  EXPECT_THROW(result.get(), std::out_of_range);
}

Promise<std::string> describe(Promise<int> source) {
  try {
    const int value = co_await source;
    co_return std::to_string(value);
  } catch (const Aborted& aborted) {
    co_return "aborted: " + aborted.reason().what();
  } catch (const std::exception& error) {
    co_return std::string("exception: ") + error.what();
  }
}

// Rule: PRO-1
TEST_F(Pro1Coroutine, await_when_the_promise_rejects_then_the_exception_is_thrown_in_the_body) {
  auto result = Promise<std::string>::resolved("");
  run_task([&] {
    result = describe(scheduler.post_task([]() -> int { throw std::runtime_error("inner"); }));
  });
  EXPECT_EQ(result.get(), "exception: inner");
}

// Rule: PRO-1, PRO-2
TEST_F(Pro1Coroutine, await_when_aborted_with_a_plain_value_then_aborted_is_thrown_in_the_body) {
  AbortController controller;
  auto result = Promise<std::string>::resolved("");
  run_task([&] {
    result = describe(
        scheduler.post_task([] { return 1; }, {.signal = controller.signal(), .delay = 1h}));
  });
  run_task([&] { controller.abort("stop"); });
  EXPECT_EQ(result.get(), "aborted: stop");
}

Promise<int> pass_on(Promise<int> source) {
  const int value = co_await source;
  co_return value;
}

// Rule: PRO-2; conformance FORMAT.md 6, `await`: the body ends with the reason itself.
TEST_F(Pro1Coroutine,
       coroutine_when_a_plain_value_rejection_passes_through_it_then_the_same_reason) {
  auto result = Promise<int>::resolved(0);
  const auto source = Promise<int>::rejected(Reason("plain"));
  run_task([&] { result = pass_on(source); });
  EXPECT_TRUE(result.reason());
  EXPECT_EQ(result.reason(), source.reason());
}

// Rule: PRO-3 ("aborts don't")
TEST_F(Pro1Coroutine, coroutine_when_an_abort_passes_through_it_then_not_reported) {
  const test::ErrorLog log;
  for (const Reason& reason : {Reason("plain"), Reason(AbortError())}) {
    AbortController controller;
    const PostTaskOptions options{.signal = controller.signal(), .delay = 1h};
    run_task([&] { static_cast<void>(pass_on(scheduler.post_task([] { return 1; }, options))); });
    run_task([&] { controller.abort(reason); });
  }
  EXPECT_TRUE(test::ErrorLog::take().empty());
}

// Rule: PRO-3 (awaiting is observing)
TEST_F(Pro1Coroutine, await_when_the_rejection_is_caught_in_the_body_then_nothing_is_reported) {
  const test::ErrorLog log;
  run_task([this] {
    static_cast<void>(
        describe(scheduler.post_task([]() -> int { throw std::runtime_error("x"); })));
  });
  EXPECT_TRUE(test::ErrorLog::take().empty());
}

/// Writes when it is destroyed.
class Local {
 public:
  explicit Local(Trace& trace) : trace_(&trace) {}
  Local(const Local&) = delete;
  Local& operator=(const Local&) = delete;
  ~Local() { trace_->emplace_back("local destroyed"); }

 private:
  Trace* trace_;
};

Promise<int> hold(Trace& trace, Probe /*parameter*/, Promise<void> source) {
  const Local local(trace);
  co_await source;
  co_return 1;
}

// Rule: PRO-1
TEST_F(Pro1Coroutine, coroutine_when_it_ends_then_its_parameters_go_though_the_promise_is_held) {
  const auto probe = std::make_shared<int>();
  auto result = Promise<int>::resolved(0);
  run_task([&] {
    result = hold(trace, probe, Promise<void>::resolved());
    EXPECT_EQ(probe.use_count(), 2);
  });
  EXPECT_TRUE(result.settled());
  EXPECT_EQ(probe.use_count(), 1);
}

// Rule: PRO-1
TEST_F(Pro1Coroutine, coroutine_when_it_ends_then_its_locals_go_before_its_reactions_run) {
  run_task([&] {
    static_cast<void>(hold(trace, nullptr, Promise<void>::resolved()).then([this](int) {
      trace.emplace_back("reaction");
    }));
  });
  EXPECT_EQ(trace, (Trace{"local destroyed", "reaction"}));
}

// Rule: PRO-1 ("dropping it detaches")
TEST_F(Pro1Coroutine, coroutine_when_its_promise_is_dropped_then_it_goes_on) {
  auto [source, resolver] = Promise<void>::with_resolver();
  run_task([&, source] { static_cast<void>(hold(trace, nullptr, source)); });
  EXPECT_TRUE(trace.empty());
  run_task([&] { resolver.resolve(); });
  EXPECT_EQ(trace, (Trace{"local destroyed"}));
}

// Rule: YLD-4 ("a plain thread waits")
TEST_F(Pro1Coroutine, await_when_off_an_agent_and_settled_then_goes_on_at_once) {
  EXPECT_EQ(start_then_await(trace, Promise<int>::resolved(1)).get(), 2);
  EXPECT_EQ(trace, (Trace{"started", "resumed"}));
}

// Rule: YLD-4
TEST_F(Pro1Coroutine, await_when_off_an_agent_and_pending_then_not_allowed_is_thrown_in_the_body) {
  const auto pending = scheduler.post_task([] { return 1; });
  const auto result = start_then_await(trace, pending);
  EXPECT_TRUE(test::is<NotAllowedError>(result.reason()));
  loop.run_until_idle();
  EXPECT_EQ(trace, (Trace{"started"}));
}

// Rule: PRO-1 (the task keeps the callable whose captures the frame uses)
TEST_F(Pro1Coroutine,
       post_task_when_the_callback_is_a_coroutine_lambda_then_its_captures_live_to_its_end) {
  const auto probe = std::make_shared<int>(30);
  auto [source, resolver] = Promise<int>::with_resolver();
  const auto promise = scheduler.post_task([probe, source]() -> Promise<int> {
    const int first = co_await source;
    const auto two = Promise<int>::resolved(2);
    const int second = co_await two;
    co_return first + second + *probe;
  });
  loop.run_until_idle();
  run_task([&] { resolver.resolve(10); });
  EXPECT_EQ(promise.get(), 42);
  EXPECT_EQ(probe.use_count(), 1);
}

// Rule: PRO-1, ABT-6: the abort does not pull the callable from under the frame.
TEST_F(Pro1Coroutine,
       post_task_when_aborted_while_its_coroutine_waits_then_captures_live_to_its_end) {
  AbortController controller;
  const auto probe = std::make_shared<int>(30);
  auto [source, resolver] = Promise<int>::with_resolver();
  int seen = 0;
  const auto promise = scheduler.post_task(
      [&controller, &seen, probe, source]() -> Promise<int> {
        controller.abort();  // while it runs: the promise rejects now, the body goes on
        const int value = co_await source;
        seen = value + *probe;
        co_return seen;
      },
      {.signal = controller.signal()});
  loop.run_until_idle();
  EXPECT_TRUE(test::is<AbortError>(promise.reason()));
  EXPECT_EQ(probe.use_count(), 2);
  run_task([&] { resolver.resolve(12); });
  EXPECT_EQ(seen, 42);
  EXPECT_EQ(probe.use_count(), 1);
}

// Rule: YLD-1, YLD-4
TEST(Pro1CoroutineAcrossAgents, WPT_MT_10_coroutine_when_it_goes_on_then_on_its_home_agent) {
  const Agent agent;
  const Agent other;
  const auto thread_of = [](const Agent& each) {
    return each.scheduler().post_task([] { return std::this_thread::get_id(); });
  };
  const auto home = thread_of(agent).get();
  auto [source, resolver] = Promise<int>::with_resolver();
  const auto promise = agent.scheduler().post_task([&, source]() -> Promise<bool> {
    bool at_home = std::this_thread::get_id() == home;
    co_await heist::yield();
    at_home = at_home && std::this_thread::get_id() == home;
    const int value = co_await source;
    at_home = at_home && std::this_thread::get_id() == home;
    const auto there = thread_of(other);
    const std::thread::id their_thread = co_await there;
    at_home = at_home && their_thread != home && std::this_thread::get_id() == home;
    co_await heist::yield(ContinuationPriority::background);
    co_return value == 3 && at_home&& std::this_thread::get_id() == home;
  });
  resolver.resolve(3);
  EXPECT_TRUE(promise.get());
}

}  // namespace
}  // namespace heist
