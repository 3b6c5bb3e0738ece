// Rule: LIF-4: without memory post throws std::bad_alloc and nothing changed; what is posted
//         already runs to its end.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <heist/heist.hpp>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "api/probes.hpp"
#include "counters/counting.hpp"
#include "heist/concurrent/registry.hpp"

namespace heist {
namespace {

using namespace std::chrono_literals;
using test::NoMemory;
using test::Trace;

class Lif4 : public test::LoopTest {
 protected:
  void SetUp() override {
    if (!test::memory_can_fail()) GTEST_SKIP() << "this sanitizer's allocator never fails";
    trace.reserve(100);
  }

  /// Whether the call throws std::bad_alloc when there is no memory but for so many nodes of each
  /// size.
  template <class Call>
  static bool fails(Call call, std::size_t nodes = 0) {
    bool failed = false;
    const NoMemory none(nodes);
    try {
      call();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    return failed;
  }

  /// Runs without memory what `call` does.
  template <class Call>
  static void without_memory(Call call) {
    const NoMemory none;
    call();
  }

  const std::shared_ptr<int> probe = std::make_shared<int>();
};

TEST_F(Lif4, post_when_there_is_no_memory_then_bad_alloc_and_nothing_is_queued) {
  EXPECT_TRUE(fails([this] { scheduler.post([probe = probe] {}); }));
  EXPECT_TRUE(fails([this] { scheduler.post([probe = probe] {}, {.delay = 1ms}); }));
  EXPECT_TRUE(fails([this] { static_cast<void>(scheduler.post_task([probe = probe] {})); }));
  EXPECT_EQ(loop.pending(), 0U);
  EXPECT_EQ(probe.use_count(), 1);
  run_task(note("the loop goes on"));
  EXPECT_EQ(trace.size(), 1U);
}

TEST_F(Lif4, room_when_there_is_no_memory_then_bad_alloc_no_place_is_lost_and_nothing_reported) {
  const BoundedScheduler bounded(scheduler, 1);
  const auto ask = [&] { static_cast<void>(bounded.room()); };
  const auto reports_before = reported_error_count();
  EXPECT_TRUE(fails(ask));
  EXPECT_TRUE(fails(ask, 1));  // the promise has its node
  EXPECT_EQ(reported_error_count(), reports_before);
  EXPECT_TRUE(fails([&] { bounded.post([probe = probe] {}); }));
  EXPECT_EQ(bounded.post(note("posted")), PostResult::posted);
  run_task([] {});
  EXPECT_EQ(trace.size(), 1U);
  EXPECT_EQ(probe.use_count(), 1);
}

// The task, the signal's port, or the followed signal's port has no memory.
TEST_F(Lif4, scope_when_a_start_has_no_memory_then_bad_alloc_and_the_scope_goes_on) {
  const TaskController outer;
  TaskScope scope(scheduler, {.signal = outer.signal()});
  std::size_t nodes = 0;
  while (fails([&] { scope.start([this, probe = probe] { trace.emplace_back("ran"); }); }, nodes)) {
    EXPECT_EQ(probe.use_count(), 1);
    EXPECT_FALSE(scope.signal().aborted());
    ++nodes;
  }
  EXPECT_GT(nodes, 1U);
  without_memory([&] {
    loop.run_until_idle();
    scope.join();
  });
  EXPECT_EQ(trace.size(), 1U);
  EXPECT_EQ(probe.use_count(), 1);
}

TEST_F(Lif4, scope_when_its_tasks_are_dropped_without_memory_then_it_ends_and_says_so) {
  TaskScope scope(scheduler);
  for (int i = 0; i < 3; ++i) scope.start([probe = probe] {});
  Reason reason;
  without_memory([&] {
    loop.close(CloseMode::abort());
    reason = scope.signal().reason();
  });
  EXPECT_EQ(probe.use_count(), 1);
  EXPECT_THROW(reason.rethrow(), AbortError);
  EXPECT_THROW(scope.join(), AbortError);
}

TEST_F(Lif4, set_timeout_when_there_is_no_memory_then_bad_alloc_and_nothing_is_armed) {
  run_task([this] {
    EXPECT_TRUE(fails([this] { static_cast<void>(set_timeout([probe = probe] {}, 1ms)); }));
  });
  EXPECT_EQ(loop.pending(), 0U);
  EXPECT_EQ(probe.use_count(), 1);
}

TEST_F(Lif4, exception_when_an_abort_error_cannot_be_made_then_bad_alloc_and_later_it_is_made) {
  const Reason reason = Reason::of_abort();
  std::exception_ptr seen;
  without_memory([&] { seen = reason.exception(); });
  EXPECT_THROW(std::rethrow_exception(seen), std::bad_alloc);
  EXPECT_THROW(reason.rethrow(), AbortError);
}

TEST_F(Lif4, post_when_it_fails_then_the_callback_is_still_the_callers) {
  auto callback = [value = std::make_unique<int>(4)] { return *value; };
  EXPECT_TRUE(fails([&] { static_cast<void>(scheduler.post_task(std::move(callback))); }));
  // NOLINTNEXTLINE(bugprone-use-after-move): that is the point.
  EXPECT_EQ(callback(), 4);
}

TEST_F(Lif4, post_when_it_fails_with_a_signal_then_abort_and_priority_work_on) {
  TaskController controller;
  const PostTaskOptions options{.signal = controller.signal()};
  const auto kept = scheduler.post_task([] { return 1; }, options);
  EXPECT_TRUE(fails([&] { static_cast<void>(scheduler.post_task([probe = probe] {}, options)); }));
  EXPECT_TRUE(fails([&] { scheduler.post([probe = probe] {}, options); }));
  EXPECT_EQ(probe.use_count(), 1);
  controller.set_priority(TaskPriority::background);
  controller.abort();
  loop.run_until_idle();
  EXPECT_EQ(kept.reason(), controller.signal().reason());
}

// Rule: LIF-4, PRI-3. The first change of a priority makes its message to the loop, if it can.
TEST_F(Lif4, set_priority_when_memory_ends_then_picks_use_the_new_priority_all_the_same) {
  TaskController controller;
  std::string order;
  scheduler.post([&] { order += "visible "; });
  scheduler.post([&] { order += "raised "; }, {.signal = controller.signal()});
  EXPECT_FALSE(fails([&] { controller.set_priority(TaskPriority::user_blocking); }));
  loop.run_until_idle();
  EXPECT_EQ(order, "raised visible ");
}

// The signal's part for a second loop needs memory of its own, after the task's.
TEST_F(Lif4, post_when_the_signal_is_new_to_the_loop_and_memory_ends_then_nothing_changed) {
  TaskController controller;
  const PostTaskOptions options{.signal = controller.signal()};
  EventLoop first;
  const auto elsewhere = first.scheduler().post_task([] {}, options);
  EXPECT_TRUE(fails([&] { static_cast<void>(scheduler.post_task([probe = probe] {}, options)); }));
  EXPECT_EQ(loop.pending(), 0U);
  const auto promise = scheduler.post_task([] { return 2; }, options);
  loop.run_until_idle();
  EXPECT_EQ(promise.get(), 2);
}

TEST_F(Lif4, then_when_there_is_no_memory_then_bad_alloc_and_the_promise_is_unharmed) {
  auto promise = Promise<int>::resolved(1);
  bool failed = false;
  run_task(
      [&] { failed = fails([&] { static_cast<void>(promise.then([probe = probe](int) {})); }); });
  EXPECT_TRUE(failed);
  EXPECT_EQ(probe.use_count(), 1);
  EXPECT_EQ(promise.get(), 1);
}

TEST_F(Lif4, queue_microtask_when_there_is_no_memory_then_bad_alloc) {
  bool failed = false;
  run_task([&] { failed = fails([&] { queue_microtask([probe = probe] {}); }); });
  EXPECT_TRUE(failed);
  EXPECT_EQ(probe.use_count(), 1);
}

TEST_F(Lif4, signals_when_there_is_no_memory_then_bad_alloc_and_they_work_on) {
  EXPECT_TRUE(fails([] { const AbortController controller; }));
  EXPECT_TRUE(fails([] { const TaskController controller; }));
  AbortController controller;
  EXPECT_TRUE(fails([&] { static_cast<void>(controller.signal().on_abort([] {})); }));
  EXPECT_TRUE(fails([&] { controller.abort(std::string(100, 'x')); }));
  EXPECT_FALSE(controller.signal().aborted());
  controller.abort();
  EXPECT_TRUE(controller.signal().aborted());
}

TEST_F(Lif4, with_resolver_when_there_is_no_memory_then_bad_alloc) {
  EXPECT_TRUE(fails([] { static_cast<void>(Promise<int>::with_resolver()); }));
  EXPECT_TRUE(fails([] { static_cast<void>(Promise<int>::resolved(1)); }));
}

Promise<int> at_once(std::shared_ptr<int> /*parameter*/) { co_return 1; }

TEST_F(Lif4, coroutine_when_there_is_no_memory_then_bad_alloc_at_the_call) {
  EXPECT_TRUE(fails([this] { static_cast<void>(at_once(probe)); }));
  EXPECT_EQ(probe.use_count(), 1);
}

TEST_F(Lif4, get_when_there_is_no_memory_to_wait_then_bad_alloc_or_waits) {
  const Agent agent;
  test::Gate finish;
  const auto promise = agent.scheduler().post_task([&finish] {
    finish.wait();
    return 3;
  });
  static_cast<void>(fails([&] { static_cast<void>(promise.wait_for(0ns)); }));
  finish.open();
  EXPECT_EQ(promise.get(), 3);
}

// What was posted while there was memory.
class Lif4Afterwards : public Lif4 {
 protected:
  void SetUp() override {
    Lif4::SetUp();
    if (IsSkipped()) return;
    for (const auto& options : {PostTaskOptions{}, with_signal, delayed}) {
      scheduler.post([this] { ++ran; }, options);
      promises.push_back(scheduler.post_task([this] { return ++ran; }, options));
      reactions.push_back(promises.back().then(
          std::as_const(scheduler), [this](int) { ++fulfilled; },
          [this](const Reason&) { ++rejected; }));
    }
  }

  int ran = 0;
  int fulfilled = 0;
  int rejected = 0;
  TaskController controller;
  PostTaskOptions with_signal{.signal = controller.signal()};
  PostTaskOptions delayed{.signal = controller.signal(), .delay = 3ms};
  std::vector<Promise<int>> promises;
  std::vector<Promise<void>> reactions;
};

TEST_F(Lif4Afterwards, tasks_when_memory_is_gone_then_they_run_expire_and_settle) {
  without_memory([this] { loop.advance(5ms); });
  EXPECT_EQ(ran, 6);
  EXPECT_EQ(fulfilled, 3);
}

TEST_F(Lif4Afterwards, abort_when_memory_is_gone_then_tasks_reject_and_go) {
  const Reason reason("made before");
  without_memory([&] {
    controller.abort(reason);
    loop.advance(5ms);
  });
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(rejected, 2);
}

TEST_F(Lif4Afterwards, set_priority_when_memory_is_gone_then_tasks_move) {
  without_memory([this] {
    controller.set_priority(TaskPriority::user_blocking);
    loop.advance(5ms);
  });
  EXPECT_EQ(ran, 6);
}

// Rule: LIF-4, PRI-6
TEST_F(Lif4Afterwards, set_priority_when_calls_overlap_without_memory_then_all_the_same) {
  std::vector<TaskPriority> heard;
  const auto subscription =
      controller.signal().on_priority_change([&](const PriorityChangeEvent& event) {
        heard.push_back(event.current);
        if (heard.size() != 1) return;
        test::on_plain_thread([this] {
          EXPECT_FALSE(fails([this] { controller.set_priority(TaskPriority::background); }));
        });
      });
  controller.set_priority(TaskPriority::user_blocking);
  EXPECT_EQ(heard, (std::vector{TaskPriority::user_blocking, TaskPriority::background}));
}

TEST_F(Lif4Afterwards, close_when_memory_is_gone_then_everything_rejects) {
  without_memory([this] { loop.close(CloseMode::abort()); });
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(rejected, 3);
  for (const auto& promise : promises) EXPECT_EQ(promise.status(), PromiseStatus::rejected);
}

TEST_F(Lif4Afterwards, close_when_draining_without_memory_then_the_runnable_run) {
  without_memory([this] { loop.close(CloseMode::drain()); });
  EXPECT_EQ(ran, 4);
  EXPECT_EQ(rejected, 1);
}

// Keeping what a callback throws needs memory; without it the promise rejects all the same.
TEST_F(Lif4, task_when_it_throws_and_there_is_no_memory_then_its_promise_rejects_all_the_same) {
  const auto promise = scheduler.post_task([]() -> int { throw 42; });
  const auto reaction =
      Promise<int>::resolved(1).then(std::as_const(scheduler), [](int) -> int { throw 42; });
  without_memory([this] { loop.run_until_idle(); });
  EXPECT_EQ(promise.status(), PromiseStatus::rejected);
  EXPECT_EQ(reaction.status(), PromiseStatus::rejected);
  EXPECT_TRUE(promise.reason());
}

// Rule: LIF-3
TEST_F(Lif4, task_when_nobody_holds_its_promise_and_it_throws_without_memory_then_still_reported) {
  static int reports = 0;
  reports = 0;
  const ErrorHook former = set_error_hook([](ErrorOrigin, const Reason&) noexcept { ++reports; });
  scheduler.post([] { throw 42; });
  without_memory([this] { loop.run_until_idle(); });
  set_error_hook(former);
  EXPECT_EQ(reports, 1);
}

// Rule: PRO-3
TEST_F(Lif4, promise_when_an_abort_goes_unobserved_without_memory_then_it_is_not_reported) {
  static int reports = 0;
  reports = 0;
  const ErrorHook former = set_error_hook([](ErrorOrigin, const Reason&) noexcept { ++reports; });
  auto pair = std::make_optional(Promise<int>::with_resolver());
  pair->resolver.reject(Reason::of_abort());
  without_memory([&] { pair.reset(); });
  set_error_hook(former);
  EXPECT_EQ(reports, 0);
}

TEST_F(Lif4, resolver_when_dropped_without_memory_then_the_promise_rejects_all_the_same) {
  auto pair = std::make_optional(Promise<int>::with_resolver());
  const auto promise = pair->promise;
  without_memory([&] { pair.reset(); });
  EXPECT_EQ(promise.status(), PromiseStatus::rejected);
}

/// A dead registration that its test owns.
struct Dead : detail::Registration {
  Dead() noexcept : Registration(table) {}
  static bool claim(Registration& /*registration*/) noexcept { return false; }
  static bool is_dead(const Registration& /*registration*/) noexcept { return true; }
  static void forget(Registration& registration) noexcept {
    static_cast<Dead&>(registration).forgotten = true;
  }
  static constexpr Ops table{&claim, &is_dead, &forget, Kind::task};
  bool forgotten = false;
};

// Rules: LIF-4, ABT-5
TEST_F(Lif4, add_when_there_is_no_memory_to_prune_with_then_added_and_a_later_add_tries_again) {
  std::vector<Dead> all(101);
  detail::Registry registry;
  const auto forgotten = [&] { return std::ranges::count(all, true, &Dead::forgotten); };
  without_memory([&] {
    for (auto& each : std::span(all).first(100)) EXPECT_TRUE(registry.add(each));
    for (int i = 0; i < 100; ++i) registry.note_dead();
  });
  EXPECT_EQ(forgotten(), 0);
  EXPECT_TRUE(registry.add(all.back()));
  without_memory([&] {
    for (int i = 0; i < 16; ++i) registry.note_dead();
  });
  EXPECT_GE(forgotten(), 64);
}

}  // namespace
}  // namespace heist
