// Rule: LIF-6: calls through moved-from handles, and callbacks that are nothing, are refused by
//         name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <heist/heist.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "api/probes.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using namespace std::chrono_literals;

/// What a handle is after a move.
template <class Handle>
Handle moved_from(Handle handle) {
  const Handle taken(std::move(handle));
  return handle;  // NOLINT(bugprone-use-after-move)
}

/// What std::invalid_argument says.
template <class Call>
std::string refusal_of(Call&& call) {
  try {
    std::invoke(std::forward<Call>(call));
  } catch (const std::invalid_argument& refusal) {
    return refusal.what();
  }
  return "not refused";
}

std::string moved(const std::string& call) { return call + ": the handle was moved from"; }
std::string nothing(const std::string& call) { return call + ": there is nothing to call"; }

class Lif6 : public test::LoopTest {
 protected:
  Scheduler gone = moved_from(scheduler);
  TaskController controller;
  AbortSignal signal_gone = moved_from(AbortSignal(controller.signal()));
};

TEST_F(Lif6, scheduler_when_moved_from_then_each_call_is_refused_by_name) {
  EXPECT_FALSE(gone.valid());
  EXPECT_EQ(refusal_of([&] { gone.post([] {}); }), moved("Scheduler::post"));
  EXPECT_EQ(refusal_of([&] { gone.post([] {}, {.delay = 1ms}); }), moved("Scheduler::post"));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(gone.post_task([] {})); }),
            moved("Scheduler::post_task"));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(gone.with_ceiling(TaskPriority::background)); }),
            moved("Scheduler::with_ceiling"));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(gone.yield()); }), moved("Scheduler::yield"));
  EXPECT_EQ(refusal_of([&] { gone.suspend(); }), moved("Scheduler::suspend"));
  EXPECT_EQ(refusal_of([&] { gone.resume(); }), moved("Scheduler::resume"));
}

TEST_F(Lif6, scheduler_when_moved_from_and_passed_on_then_refused_by_name) {
  const auto promise = Promise<int>::resolved(1);
  EXPECT_EQ(refusal_of([&] { static_cast<void>(resume_on(gone)); }), moved("resume_on"));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(sleep_for(gone, 1ms)); }),
            moved("sleep_for: the scheduler"));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(sleep_for(scheduler, 1ms, signal_gone)); }),
            moved("sleep_for: the signal"));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(AbortSignal::timeout(gone, 1ms)); }),
            moved("AbortSignal::timeout: the scheduler"));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(promise.then(gone, [](int) {})); }),
            moved("Promise::then: the scheduler"));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(when_all(gone, promise)); }),
            moved("when_all, when_any or race: the scheduler"));
  EXPECT_EQ(refusal_of([&] { const CooperativeScheduler cooperative(gone); }),
            moved("CooperativeScheduler: the scheduler"));
}

TEST_F(Lif6, bounded_scheduler_when_moved_from_then_refused_by_name) {
  const auto bounded = moved_from(BoundedScheduler(scheduler, 1));
  EXPECT_EQ(refusal_of([&] { bounded.post([] {}); }), moved("BoundedScheduler::post"));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(bounded.post_task([] {})); }),
            moved("BoundedScheduler::post_task"));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(bounded.room()); }),
            moved("BoundedScheduler::room"));
  EXPECT_EQ(refusal_of([&] { bounded.post(Room(), [] {}); }), moved("BoundedScheduler::post"));
}

TEST_F(Lif6, signal_when_moved_from_then_each_call_is_refused_by_name) {
  const auto task_signal = moved_from(controller.signal());
  EXPECT_EQ(refusal_of([&] { static_cast<void>(signal_gone.on_abort([] {})); }),
            moved("AbortSignal::on_abort"));
  EXPECT_EQ(refusal_of([&] { signal_gone.throw_if_aborted(); }),
            moved("AbortSignal::throw_if_aborted"));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(signal_gone.stop_token()); }),
            moved("AbortSignal::stop_token"));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(task_signal.on_priority_change([] {})); }),
            moved("TaskSignal::on_priority_change"));
  EXPECT_EQ(
      refusal_of([&] { static_cast<void>(TaskSignal::any({controller.signal()}, task_signal)); }),
      moved("TaskSignal::any: the priority source"));
}

TEST_F(Lif6, signal_when_moved_from_and_passed_on_then_refused_and_nothing_is_posted) {
  EXPECT_EQ(refusal_of([&] { scheduler.post([] {}, {.signal = signal_gone}); }),
            moved("PostTaskOptions::signal"));
  EXPECT_EQ(
      refusal_of([&] { static_cast<void>(scheduler.post_task([] {}, {.signal = signal_gone})); }),
      moved("PostTaskOptions::signal"));
  EXPECT_EQ(refusal_of([&] {
              static_cast<void>(controller.signal().on_abort([] {}, {.signal = signal_gone}));
            }),
            moved("ListenerOptions::signal"));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(scheduler.yield({signal_gone})); }),
            moved("YieldOptions::signal"));
  EXPECT_EQ(loop.pending(), 0U);
}

TEST_F(Lif6, promise_when_moved_from_then_each_call_is_refused_by_name) {
  const auto promise = moved_from(Promise<int>::resolved(1));
  EXPECT_FALSE(promise.valid());
  EXPECT_EQ(refusal_of([&] { static_cast<void>(promise.get()); }), moved("Promise::get"));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(promise.wait_for(1ms)); }),
            moved("Promise::wait_for"));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(promise.then(scheduler, [](int) {})); }),
            moved("Promise::then"));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(when_all(scheduler, promise)); }),
            moved("when_all, when_any or race: a promise"));
  EXPECT_EQ(
      refusal_of([&] { static_cast<void>(race(scheduler, std::vector<Promise<int>>{promise})); }),
      moved("when_all, when_any or race: a promise"));
}

Promise<std::string> await_it(Promise<int> promise) {
  std::string refusal = "not refused";
  try {
    static_cast<void>(co_await promise);
  } catch (const std::invalid_argument& error) {
    refusal = error.what();
  }
  co_return refusal;
}

TEST_F(Lif6, await_when_moved_from_then_refused_on_an_agent_and_off_it) {
  const auto promise = moved_from(Promise<int>::resolved(1));
  auto refusal = Promise<std::string>::resolved();
  run_task([&] { refusal = await_it(promise); });
  EXPECT_EQ(refusal.get(), moved("co_await of a Promise"));
  EXPECT_EQ(await_it(promise).get(), moved("co_await of a Promise"));
}

// An assertion names these calls in debug builds: they cannot throw.
TEST_F(Lif6, noexcept_calls_when_moved_from_then_asserted_or_defined) {
  const auto promise = moved_from(Promise<int>::resolved(1));
  const auto task_signal = moved_from(controller.signal());
  EXPECT_DEBUG_DEATH(EXPECT_EQ(promise.status(), PromiseStatus::rejected), "Promise::status");
  EXPECT_DEBUG_DEATH(EXPECT_TRUE(promise.settled()), "Promise::settled");
  EXPECT_DEBUG_DEATH(EXPECT_TRUE(test::is<InvalidStateError>(promise.reason())), "Promise::reason");
  EXPECT_DEBUG_DEATH(EXPECT_FALSE(signal_gone.aborted()), "AbortSignal::aborted");
  EXPECT_DEBUG_DEATH(EXPECT_FALSE(signal_gone.reason()), "AbortSignal::reason");
  EXPECT_DEBUG_DEATH(EXPECT_EQ(task_signal.priority(), TaskPriority::user_visible),
                     "TaskSignal::priority");
}

TEST_F(Lif6, controller_when_moved_then_both_are_of_the_same_signal) {
  TaskController first;
  TaskController second(std::move(first));
  first.set_priority(
      TaskPriority::background);  // NOLINT(bugprone-use-after-move): that is the test
  EXPECT_EQ(second.signal().priority(), TaskPriority::background);
  first.abort();
  EXPECT_TRUE(second.signal().aborted());
}

TEST_F(Lif6, cooperative_scheduler_when_moved_then_both_are_of_the_same_one) {
  CooperativeScheduler first(scheduler);
  const CooperativeScheduler second(std::move(first));
  EXPECT_EQ(first, second);  // NOLINT(bugprone-use-after-move): that is the test
  int calls = 0;
  first.schedule_callback(CooperativePriority::normal, [&] { ++calls; });
  loop.run_until_idle();
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(first.should_yield());
}

TEST_F(Lif6, other_handles_when_moved_from_then_hold_nothing) {
  auto [promise, resolver] = Promise<int>::with_resolver();
  Resolver<int> taken(std::move(resolver));
  resolver.resolve(1);  // NOLINT(bugprone-use-after-move): that is the test
  EXPECT_FALSE(promise.settled());
  taken.resolve(2);
  EXPECT_EQ(promise.get(), 2);
  auto subscription = moved_from(controller.signal().on_abort([] {}));
  EXPECT_FALSE(subscription.active());
  subscription.reset();
  run_task([] { EXPECT_FALSE(moved_from(set_timeout([] {})).clear()); });
}

Forkable<int> seven() { co_return 7; }
Forkable<int> forks_moved_from() {
  Forkable<int> call = seven();
  const Forkable<int> taken(std::move(call));
  auto child = co_await fork(std::move(call));  // NOLINT(bugprone-use-after-move)
  co_await join();
  co_return child.value();
}
Forkable<int> calls_twice() {
  Forkable<int> call = seven();
  const int first = co_await std::move(call);
  const int second = co_await std::move(call);  // NOLINT(bugprone-use-after-move)
  co_return first + second;
}
Forkable<int> asks_moved_from() {
  Forked<int> child = co_await fork(seven());
  const Forked<int> taken(std::move(child));
  co_await join();
  co_return child.value();  // NOLINT(bugprone-use-after-move)
}

Forkable<int> asks_what_was_never_forked() {
  Forked<int> child;
  co_return child.value();
}

TEST_F(Lif6, fork_when_moved_from_then_refused_by_name) {
  const auto forked = scheduler.post_task(&forks_moved_from);
  const auto called = scheduler.post_task(&calls_twice);
  const auto asked = scheduler.post_task(&asks_moved_from);
  const auto never = scheduler.post_task(&asks_what_was_never_forked);
  const auto returned = scheduler.post_task([] { return moved_from(seven()); });
  loop.run_until_idle();
  EXPECT_EQ(refusal_of([&] { static_cast<void>(forked.get()); }), moved("fork"));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(called.get()); }), moved("co_await of a Forkable"));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(asked.get()); }),
            "Forked::value: no call was forked into it, or it was moved from");
  EXPECT_EQ(refusal_of([&] { static_cast<void>(never.get()); }),
            "Forked::value: no call was forked into it, or it was moved from");
  EXPECT_EQ(refusal_of([&] { static_cast<void>(returned.get()); }),
            moved("post_task: what the callback returned"));
}

/// Callbacks that are nothing: a null pointer, and an empty function object.
template <class Call>
void expect_refused(const std::string& call, Call&& post) {
  EXPECT_EQ(refusal_of([&] { post(static_cast<void (*)()>(nullptr)); }), nothing(call));
  EXPECT_EQ(refusal_of([&] { post(std::function<void()>()); }), nothing(call));
}

TEST_F(Lif6, post_when_there_is_nothing_to_call_then_refused_by_name) {
  const BoundedScheduler bounded(scheduler, 1);
  expect_refused("Scheduler::post", [&](auto f) { scheduler.post(f); });
  expect_refused("Scheduler::post", [&](auto f) { scheduler.post(f, {.delay = 1ms}); });
  expect_refused("Scheduler::post_task",
                 [&](auto f) { static_cast<void>(scheduler.post_task(f)); });
  expect_refused("queue_task", [&](auto f) { loop.queue_task(TaskSource::io, f); });
  for (int i = 0; i < 2; ++i) {  // the refused one gives its place back
    expect_refused("BoundedScheduler::post", [&](auto f) { bounded.post(f); });
    expect_refused("BoundedScheduler::post_task",
                   [&](auto f) { static_cast<void>(bounded.post_task(f)); });
  }
  EXPECT_EQ(loop.pending(), 0U);
}

TEST_F(Lif6, call_of_an_agent_when_there_is_nothing_to_call_then_refused_by_name) {
  run_task([&] {
    expect_refused("queue_microtask", [](auto f) { queue_microtask(f); });
    expect_refused("set_timeout", [](auto f) { static_cast<void>(set_timeout(f)); });
    expect_refused("blocking", [](auto f) { blocking(f); });
  });
  const auto promise = Promise<void>::resolved();
  expect_refused("Promise::then", [&](auto f) { static_cast<void>(promise.then(scheduler, f)); });
  const CooperativeScheduler cooperative(scheduler);
  expect_refused("CooperativeScheduler::next", [&](auto f) { cooperative.next(f); });
  expect_refused("CooperativeScheduler::run_with_priority",
                 [&](auto f) { cooperative.run_with_priority(CooperativePriority::low, f); });
  expect_refused("CooperativeScheduler::wrap_callback",
                 [&](auto f) { static_cast<void>(cooperative.wrap_callback(f)); });
}

TEST_F(Lif6, listener_when_there_is_nothing_to_call_then_refused_by_name) {
  const TaskSignal signal = controller.signal();
  expect_refused("AbortSignal::on_abort", [&](auto f) { static_cast<void>(signal.on_abort(f)); });
  expect_refused("TaskSignal::on_priority_change",
                 [&](auto f) { static_cast<void>(signal.on_priority_change(f)); });
}

TEST_F(Lif6, then_when_the_rejection_callback_is_nothing_then_refused_by_name) {
  const auto promise = Promise<void>::resolved();
  const std::function<void(const Reason&)> none;
  EXPECT_EQ(refusal_of([&] { static_cast<void>(promise.then(scheduler, [] {}, none)); }),
            nothing("Promise::then"));
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
