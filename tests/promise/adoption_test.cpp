// Rule: PRO-1, ABT-6; conformance FORMAT.md 3.3, 3.4 and 10; WPT: PT-05.
#include <gtest/gtest.h>

#include <functional>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "api/probes.hpp"

namespace heist {
namespace {

using test::Gate;
using test::LoopTest;
using test::Trace;

class Pro1Adoption : public LoopTest {
 protected:
  /// Queues a microtask that writes `first`, and from it one that writes `second`.
  void queue_two(const char* first, const char* second) {
    queue_microtask([this, first, second] {
      trace.emplace_back(first);
      queue_microtask(note(second));
    });
  }
  /// Writes how the promise settles, when a reaction registered now runs.
  template <class T>
  void note_outcome(const Promise<T>& promise, const std::string& name) {
    const auto fulfilled = note("resolved " + name);
    static_cast<void>(
        promise.then([fulfilled](const auto&...) { fulfilled(); },
                     [rejected = note("rejected " + name)](const Reason&) { rejected(); }));
  }
};

Promise<std::string> run_now(std::function<void()> body, std::string value) {
  body();
  co_return value;
}

// FORMAT.md 10, the worked example.
TEST_F(Pro1Adoption,
       post_task_when_callback_returns_a_settled_promise_then_worked_example_of_the_format) {
  run_task([this] {
    note_outcome(scheduler.post_task([this] {
      trace.emplace_back("run A");
      return run_now([this] { queue_two("m1", "m2"); }, "a");
    }),
                 "A");
    note_outcome(scheduler.post_task([this] {
      trace.emplace_back("run B");
      queue_two("m3", "m4");
      return std::string("b");
    }),
                 "B");
  });
  EXPECT_EQ(trace, (Trace{"run A", "m1", "m2", "resolved A", "run B", "m3", "m4", "resolved B"}));
}

Promise<int> resume_and_queue_two(Promise<void> source, std::function<void()> on_resume) {
  co_await source;
  on_resume();
  co_return 1;
}

// FORMAT.md 10, last paragraph: the body ends after a wait.
TEST_F(Pro1Adoption,
       post_task_when_the_returned_promise_settles_later_then_one_microtask_more_than_its_own) {
  auto [source, resolver] = Promise<void>::with_resolver();
  run_task([&, source] {
    note_outcome(scheduler.post_task([this, source] {
      return resume_and_queue_two(source, [this] {
        trace.emplace_back("resume");
        queue_two("m1", "m2");
      });
    }),
                 "A");
  });
  run_task([&] { resolver.resolve(); });
  EXPECT_EQ(trace, (Trace{"resume", "m1", "m2", "resolved A"}));
}

// FORMAT.md 3.4: a promise returned by a reaction takes two microtasks more than a value does.
TEST_F(Pro1Adoption,
       then_when_callback_returns_a_settled_promise_then_two_microtasks_later_than_a_value) {
  run_task([this] {
    const auto start = Promise<void>::resolved();
    static_cast<void>(start
                          .then([this] {
                            trace.emplace_back("0");
                            return Promise<void>::resolved();
                          })
                          .then(note("4")));
    static_cast<void>(
        start.then(note("1")).then(note("2")).then(note("3")).then(note("5")).then(note("6")));
  });
  EXPECT_EQ(trace, (Trace{"0", "1", "2", "3", "4", "5", "6"}));
}

// FORMAT.md 3.3
TEST_F(Pro1Adoption,
       post_task_when_callback_queued_microtasks_then_its_promise_settles_after_them) {
  auto promise = Promise<int>::resolved(0);
  std::vector<PromiseStatus> seen;
  promise = scheduler.post_task([&] {
    queue_microtask([&] {
      seen.push_back(promise.status());
      queue_microtask([&] { seen.push_back(promise.status()); });
    });
    return 1;
  });
  loop.run_until_idle();
  EXPECT_EQ(seen, (std::vector{PromiseStatus::pending, PromiseStatus::pending}));
  EXPECT_EQ(promise.status(), PromiseStatus::fulfilled);
}

// Rule: ABT-6; FORMAT.md 3.3: the abort steps are still registered in the checkpoint.
TEST_F(Pro1Adoption, post_task_when_aborted_by_a_microtask_of_its_callback_then_rejects) {
  AbortController controller;
  const auto promise = scheduler.post_task(
      [&controller] {
        queue_microtask([&controller] { controller.abort("in the checkpoint"); });
        return 1;
      },
      {.signal = controller.signal()});
  loop.run_until_idle();
  EXPECT_EQ(promise.status(), PromiseStatus::rejected);
  EXPECT_EQ(promise.reason(), controller.signal().reason());
}

// Rule: ABT-6, MT-04
TEST_F(Pro1Adoption, post_task_when_aborted_by_its_own_callback_then_the_late_value_is_dropped) {
  AbortController controller;
  const auto probe = std::make_shared<int>();
  const auto promise = scheduler.post_task(
      [&controller, probe] {
        controller.abort();
        return probe;
      },
      {.signal = controller.signal()});
  loop.run_until_idle();
  EXPECT_TRUE(test::is<AbortError>(promise.reason()));
  EXPECT_EQ(probe.use_count(), 1);
}

// Rule: ABT-6
TEST_F(Pro1Adoption,
       post_task_when_aborted_by_a_callback_that_returns_a_promise_then_the_abort_wins) {
  AbortController controller;
  const auto promise = scheduler.post_task(
      [&controller] {
        controller.abort();
        return Promise<int>::resolved(1);
      },
      {.signal = controller.signal()});
  loop.run_until_idle();
  EXPECT_TRUE(test::is<AbortError>(promise.reason()));
}

// Rule: ABT-6 ("that promise decides")
TEST_F(Pro1Adoption, post_task_when_aborted_after_it_returned_a_promise_then_that_promise_decides) {
  AbortController controller;
  auto [inner, resolver] = Promise<int>::with_resolver();
  const auto promise =
      scheduler.post_task([inner] { return inner; }, {.signal = controller.signal()});
  loop.run_until_idle();
  controller.abort();
  EXPECT_EQ(promise.status(), PromiseStatus::pending);
  resolver.resolve(3);
  loop.run_until_idle();
  EXPECT_EQ(promise.get(), 3);
}

// Rule: PRO-1
TEST_F(Pro1Adoption, WPT_PT_05_post_task_when_the_returned_promise_rejects_then_the_same_reason) {
  const auto inner = Promise<int>::rejected(Reason(std::out_of_range("inner")));
  const auto promise = scheduler.post_task([inner] { return inner; });
  loop.run_until_idle();
  EXPECT_EQ(promise.reason(), inner.reason());
  EXPECT_THROW(promise.get(), std::out_of_range);
}

// Rule: PRO-1
TEST_F(Pro1Adoption, post_task_when_the_returned_promise_has_a_move_only_value_then_it_is_moved) {
  auto promise = scheduler.post_task(
      [this] { return scheduler.post_task([] { return std::make_unique<int>(9); }); });
  loop.run_until_idle();
  EXPECT_EQ(*std::move(promise).get(), 9);
}

// Rule: PRO-1
TEST_F(Pro1Adoption, post_task_when_the_returned_promise_is_void_then_fulfils) {
  const Promise<void> promise = scheduler.post_task([] { return Promise<void>::resolved(); });
  loop.run_until_idle();
  EXPECT_EQ(promise.status(), PromiseStatus::fulfilled);
}

/// A value whose copy fails.
struct Uncopyable {
  Uncopyable() = default;
  Uncopyable(const Uncopyable& /*other*/) { throw std::domain_error("copy"); }
  Uncopyable(Uncopyable&&) = default;
};

// Rule: PRO-1, LIF-1
TEST_F(Pro1Adoption, post_task_when_copying_the_adopted_value_throws_then_rejects_with_that) {
  const auto inner = Promise<Uncopyable>::resolved(Uncopyable());
  const auto promise = scheduler.post_task([inner] { return inner; });
  loop.run_until_idle();
  EXPECT_TRUE(test::is<std::domain_error>(promise.reason()));
}

// Rule: PRO-1 (the callback of a coroutine lambda owns what its frame uses)
TEST_F(Pro1Adoption,
       post_task_when_the_returned_promise_is_pending_then_the_callback_lives_until_it_settles) {
  const auto probe = std::make_shared<int>();
  auto [inner, resolver] = Promise<int>::with_resolver();
  const auto promise = scheduler.post_task([probe, inner] { return inner; });
  loop.run_until_idle();
  EXPECT_EQ(probe.use_count(), 2);
  resolver.resolve(1);
  loop.run_until_idle();
  EXPECT_EQ(probe.use_count(), 1);
  EXPECT_TRUE(promise.settled());
}

// Rule: LIF-1 (as in JavaScript, a promise that follows itself rejects)
TEST_F(Pro1Adoption, post_task_when_the_callback_returns_the_tasks_own_promise_then_rejects) {
  auto promise = Promise<int>::resolved(0);
  promise = scheduler.post_task([&promise] { return promise; });
  loop.run_until_idle();
  EXPECT_TRUE(test::is<InvalidStateError>(promise.reason()));
}

// Rule: LIF-1
TEST_F(Pro1Adoption, then_when_the_callback_returns_its_own_result_then_rejects) {
  auto result = Promise<int>::resolved(0);
  run_task([&] { result = Promise<int>::resolved(1).then([&result](int) { return result; }); });
  EXPECT_TRUE(test::is<InvalidStateError>(result.reason()));
}

// Rule: PRO-1, LIF-2 (nobody keeps the promise, nor the returned one)
TEST_F(Pro1Adoption, post_task_when_every_handle_is_dropped_then_adoption_goes_on) {
  const auto probe = std::make_shared<int>();
  auto source = std::make_optional(Promise<int>::with_resolver());
  scheduler.post([&, inner = source->promise] {
    static_cast<void>(scheduler.post_task([probe, inner] { return inner; }).then([this](int) {
      trace.emplace_back("settled");
    }));
  });
  loop.run_until_idle();
  source->resolver.resolve(1);
  source.reset();
  loop.run_until_idle();
  EXPECT_EQ(trace, (Trace{"settled"}));
  EXPECT_EQ(probe.use_count(), 1);
}

// Rule: PRO-1, YLD-4
TEST(Pro1AdoptionAcrossThreads,
     post_task_when_the_returned_promise_settles_on_another_agent_then_adopts) {
  const Agent outer;
  const Agent inner;
  const auto promise = outer.scheduler().post_task([scheduler = inner.scheduler()] {
    return scheduler.post_task([] { return std::string("far"); });
  });
  EXPECT_EQ(promise.get(), "far");
}

/// Opens `reached` and waits for `leave` when destroyed, except when moved from.
class BlockingCapture {
 public:
  BlockingCapture(Gate& reached, Gate& leave) : reached_(&reached), leave_(&leave) {}
  BlockingCapture(BlockingCapture&& other) noexcept
      : reached_(std::exchange(other.reached_, nullptr)), leave_(other.leave_) {}
  BlockingCapture& operator=(BlockingCapture&&) = delete;
  ~BlockingCapture() {
    if (reached_ == nullptr) return;
    reached_->open();
    leave_->wait();
  }

 private:
  Gate* reached_;
  Gate* leave_;
};

// Rule: ABT-1, ABT-6. The aborter has claimed both tasks and is held up while it rejects the first;
// the second one's callback returns a promise meanwhile, which must not settle what the aborter
// will reject.
TEST(
    Abt6,
    post_task_when_the_callback_returns_a_promise_between_claim_and_rejection_then_the_abort_wins) {
  Agent agent;
  AbortController controller;
  EventLoop closed;
  closed.close(CloseMode::abort());
  const Scheduler closed_scheduler = closed.scheduler();
  Gate running;
  Gate return_now;
  Gate aborter_is_held;
  Gate let_aborter_go;

  EventLoop never_driven;
  const auto first = never_driven.scheduler().post_task([] {}, {.signal = controller.signal()});
  // Its reaction is dropped by the rejecting thread, as its loop is closed: there the aborter is
  // held.
  static_cast<void>(
      first.then(closed_scheduler, [held = BlockingCapture(aborter_is_held, let_aborter_go)] {}));
  const auto second = agent.scheduler().post_task(
      [&] {
        running.open();
        return_now.wait();
        return Promise<int>::resolved(1);
      },
      {.signal = controller.signal()});

  running.wait();
  std::thread aborter([&] { controller.abort("first wins"); });
  ASSERT_TRUE(aborter_is_held.opens());
  return_now.open();
  agent.scheduler().post_task([] {}).get();  // the adoption, if there was one, is over
  EXPECT_NE(second.status(), PromiseStatus::fulfilled);
  let_aborter_go.open();
  aborter.join();
  EXPECT_EQ(second.reason(), controller.signal().reason());
}

}  // namespace
}  // namespace heist
