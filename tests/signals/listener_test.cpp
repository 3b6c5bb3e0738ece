// Listeners and their subscriptions: who is called, and removal while a listener runs. How each of
// them ends: listener_end_test.cpp.
#include <array>
#include <atomic>
#include <heist/task_signal.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/threads.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using namespace support;  // NOLINT(google-build-using-namespace): the whole of it is for tests
using testing::ElementsAre;

class Lst : public RuntimeFixture {
 protected:
  /// Two changes, so two events.
  void change_twice() {
    controller.set_priority(user_blocking);
    controller.set_priority(user_visible);
  }

  TaskController controller;
  TaskSignal signal = controller.signal();
};

TEST_F(
    Lst,
    WPT_LST_05_signal_when_it_has_several_listeners_of_both_kinds_then_each_hears_its_own_event) {
  const std::array subscriptions{
      signal.on_abort(note("abort 1")), signal.on_priority_change(note("change 1")),
      signal.on_abort(note("abort 2")), signal.on_priority_change(note("change 2"))};
  controller.set_priority(background);
  EXPECT_THAT(trace.take(), ElementsAre("change 1", "change 2"));
  controller.abort();
  EXPECT_THAT(trace.take(), ElementsAre("abort 1", "abort 2"));
}

TEST_F(Lst, WPT_LST_08_listener_when_added_within_a_listener_then_hears_only_later_events) {
  Subscription inner;
  const auto outer = signal.on_priority_change([&] {
    if (!inner.active()) inner = signal.on_priority_change(note("inner"));
    trace.add("outer");
  });
  change_twice();
  EXPECT_THAT(trace.take(), ElementsAre("outer", "outer", "inner"));
}

TEST_F(Lst,
       WPT_LST_08_WPT_SIG_05_listener_when_added_within_an_abort_listener_then_is_never_called) {
  Subscription inner;
  const auto outer = signal.on_abort([&] { inner = signal.on_abort(note("inner")); });
  controller.abort();
  EXPECT_FALSE(inner.active());
  EXPECT_THAT(trace.take(), ElementsAre());
}

TEST_F(Lst, subscription_when_moved_then_the_listener_stays_with_the_new_one) {
  auto first = signal.on_priority_change(note("change"));
  Subscription second = std::move(first);
  EXPECT_FALSE(first.active());
  EXPECT_TRUE(second.active());
  controller.set_priority(background);
  EXPECT_THAT(trace.take(), ElementsAre("change"));
}

TEST_F(Lst, subscription_when_another_one_is_assigned_then_its_own_listener_is_removed) {
  auto subscription = signal.on_priority_change(note("old"));
  subscription = signal.on_priority_change(note("new"));
  EXPECT_EQ(callbacks.alive(), 1);
  controller.set_priority(background);
  EXPECT_THAT(trace.take(), ElementsAre("new"));
}

TEST_F(Lst, subscription_when_default_made_then_inactive_and_resettable) {
  Subscription subscription;
  EXPECT_FALSE(subscription.active());
  subscription.reset();
}

// Rule: ABT-7
TEST_F(Lst, reset_when_by_the_destructor_of_its_own_callback_then_harmless) {
  auto own = std::make_shared<Subscription>();
  *own = signal.on_abort([own] {});
  own.reset();
  controller.abort();
}

class Abt7 : public VirtualLoopFixture {
 protected:
  TaskController controller;
  TaskSignal signal = controller.signal();
};

/// A listener that is in the middle of its run on another thread.
class Abt7Running : public Abt7 {
 protected:
  Abt7Running() {
    subscription = signal.on_abort(running_callback.track([this] {
      running.open();
      may_end.wait();
      for (int i = 0; i < 1000 && !removed.load(); ++i) std::this_thread::yield();
      EXPECT_FALSE(removed.load()) << "the removal did not wait";
      finished = true;
    }));
    after = signal.on_abort(note("after"));
    aborter = std::thread([this] { controller.abort(); });
    running.wait();
  }
  void TearDown() override {
    may_end.open();
    if (aborter.joinable()) aborter.join();
    subscription.reset();
    after.reset();
    EXPECT_EQ(running_callback.alive(), 0);
    Abt7::TearDown();
  }

  LiveCount running_callback;
  Gate running;
  Gate may_end;
  std::atomic<bool> removed{false};
  bool finished = false;  ///< plain: the removal must order it
  Subscription subscription;
  Subscription after;
  std::thread aborter;
};

// Rule: ABT-7
TEST_F(Abt7Running,
       WPT_MT_05_reset_when_the_listener_runs_on_another_thread_then_waits_for_its_end) {
  may_end.open();
  subscription.reset();
  removed = true;
  EXPECT_TRUE(finished);
  EXPECT_EQ(running_callback.alive(), 0) << "the callback outlived its removal";
  aborter.join();
  EXPECT_THAT(trace.take(), ElementsAre("after"));
}

// Rule: ABT-7
TEST_F(Abt7Running, reset_when_of_another_listener_then_does_not_wait) {
  after.reset();
  EXPECT_FALSE(may_end.is_open());
  EXPECT_EQ(callbacks.alive(), 0);
  may_end.open();
  aborter.join();
  EXPECT_THAT(trace.take(), ElementsAre());
}

// Rule: ABT-7
TEST_F(Abt7Running, abort_when_another_thread_is_delivering_then_returns_without_waiting) {
  controller.abort(1);
  EXPECT_THROW(signal.throw_if_aborted(), AbortError);
}

// Rule: ABT-7
TEST_F(Abt7, task_when_it_ends_while_a_listener_of_its_abort_runs_then_does_not_wait) {
  Gate task_ended;
  Gate listening;
  const auto subscription = signal.on_abort([&] {
    listening.open();
    task_ended.wait();
  });
  std::thread aborter;
  const auto promise = scheduler.post_task(tracked([&] {
                                             aborter = std::thread([&] { controller.abort(); });
                                             listening.wait();
                                           }),
                                           {.signal = signal});
  loop.run_until_idle();
  EXPECT_EQ(promise.status(), PromiseStatus::rejected);
  EXPECT_EQ(callbacks.alive(), 0);
  task_ended.open();
  aborter.join();
}

class Abt8 : public VirtualLoopFixture {
 protected:
  TaskController controller;
  TaskSignal signal = controller.signal();
};

// Rule: ABT-8
TEST_F(Abt8, WPT_MT_06_listeners_when_called_then_on_the_thread_of_the_caller_within_the_call) {
  std::optional<std::thread::id> aborted_on;
  std::optional<std::thread::id> changed_on;
  const auto on_abort = signal.on_abort([&] { aborted_on = std::this_thread::get_id(); });
  const auto on_change =
      signal.on_priority_change([&] { changed_on = std::this_thread::get_id(); });
  on_thread([&] {
    controller.set_priority(background);
    EXPECT_EQ(changed_on, std::this_thread::get_id());
    controller.abort();
    EXPECT_EQ(aborted_on, std::this_thread::get_id());
  });
}

// Rule: ABT-8
TEST_F(Abt8, WPT_EVT_04_abort_when_a_listener_throws_then_it_is_reported_and_the_others_run) {
  const auto first = signal.on_abort([] { throw std::range_error("first"); });
  const auto second = signal.on_abort(note("second"));
  const auto third = signal.on_abort([] { throw 3; });
  const auto fourth = signal.on_abort(note("fourth"));
  EXPECT_NO_THROW(controller.abort());
  EXPECT_THAT(trace.take(), ElementsAre("second", "fourth"));
  const auto reported = errors.take();
  ASSERT_EQ(reported.size(), 2U);
  EXPECT_EQ(reported[0], (RecordedError{ErrorOrigin::listener, "first"}));
  EXPECT_EQ(reported[1].origin, ErrorOrigin::listener);
}

// Rule: ABT-8
TEST_F(Abt8, WPT_EVT_04_set_priority_when_a_listener_throws_then_reported_and_the_signal_works_on) {
  const auto first = signal.on_priority_change([] { throw std::range_error("first"); });
  const auto second = signal.on_priority_change(note("second"));
  EXPECT_NO_THROW(controller.set_priority(background));
  EXPECT_NO_THROW(controller.set_priority(user_blocking));
  EXPECT_THAT(trace.take(), ElementsAre("second", "second"));
  EXPECT_EQ(errors.take().size(), 2U);
}

/// Everything a listener may do to the signal whose event it hears.
// Rule: ABT-8
TEST_F(Abt8, WPT_MT_06_abort_listener_when_it_uses_the_signal_then_no_lock_is_in_its_way) {
  TaskController other;
  post("aborted with the other", {.signal = other.signal()});
  Subscription added;
  const auto subscription = signal.on_abort([&] {
    controller.abort();
    controller.set_priority(user_blocking);
    EXPECT_EQ(signal.priority(), user_blocking);
    other.abort(signal.reason());
    other.set_priority(background);
    post("posted");
    const auto refused = post_task("never", {.signal = signal});
    EXPECT_TRUE(refused.settled());
    added = signal.on_priority_change(note("change"));
    on_thread([&] { EXPECT_TRUE(signal.aborted()); });
  });
  controller.abort();
  controller.set_priority(background);
  EXPECT_THAT(run(), ElementsAre("change", "posted"));
  EXPECT_EQ(other.signal().reason(), signal.reason());
}

// Rule: ABT-8
TEST_F(Abt8, WPT_MT_06_priority_listener_when_it_uses_the_signal_then_no_lock_is_in_its_way) {
  TaskController other;
  const auto subscription = signal.on_priority_change([&] {
    other.set_priority(signal.priority());
    post("dynamic", {.signal = signal});
    const auto short_lived = signal.on_priority_change(note("never"));
    EXPECT_THAT(run(), ElementsAre("dynamic"));
    controller.abort();
  });
  controller.set_priority(background);
  EXPECT_EQ(other.signal().priority(), background);
  EXPECT_TRUE(signal.aborted());
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
