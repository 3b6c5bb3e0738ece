// set_timeout() and Timeout::clear(): timers of one loop.
#include <heist/timeout.hpp>

#include <cstdint>
#include <heist/error.hpp>
#include <heist/task_signal.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/threads.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist {
namespace {

using namespace support;  // NOLINT(google-build-using-namespace): the whole of it is for tests
using testing::ElementsAre;
using testing::IsEmpty;

class TimeoutTest : public VirtualLoopFixture {
 protected:
  /// Sets it in a task of the loop.
  Timeout set(std::string label, Delay delay = {}) {
    Timeout timeout;
    in_task([&] { timeout = set_timeout(note(std::move(label)), delay); });
    return timeout;
  }
  bool clear_in_task(Timeout& timeout) {
    bool cleared = false;
    in_task([&] { cleared = timeout.clear(); });
    return cleared;
  }
};

// Rule: DLY-1
TEST_F(TimeoutTest, timeout_when_its_delay_is_over_then_runs_once) {
  const Timeout timeout = set("timeout", 10ms);
  loop.advance(10ms - 1ns);
  EXPECT_THAT(trace.take(), IsEmpty());
  loop.advance(1ns);
  EXPECT_THAT(trace.take(), ElementsAre("timeout"));
  loop.advance(1h);
  EXPECT_THAT(trace.take(), IsEmpty());
}

// Rule: DLY-2
TEST_F(TimeoutTest, timeouts_when_they_end_together_then_keep_their_order_among_delayed_tasks) {
  in_task([&] {
    set_timeout(note("first"), 5ms);
    post("second", {.delay = 5ms});
    set_timeout(note("third"), 5ms);
  });
  loop.advance(5ms);
  EXPECT_THAT(trace.take(), ElementsAre("first", "second", "third"));
}

// Rule: ORD-1, PRI-1
TEST_F(TimeoutTest, timeout_without_delay_when_tasks_are_queued_then_is_a_user_visible_task) {
  in_task([&] {
    post("background", {.priority = background});
    post("visible");
    set_timeout(note("timeout"));
    post("visible, later");
    post("blocking", {.priority = user_blocking});
  });
  EXPECT_THAT(run(), ElementsAre("blocking", "visible", "timeout", "visible, later", "background"));
}

TEST_F(TimeoutTest, set_timeout_when_in_a_microtask_then_is_set) {
  in_task([&] { queue_microtask([&] { set_timeout(note("timeout"), 1ms); }); });
  loop.advance(1ms);
  EXPECT_THAT(trace.take(), ElementsAre("timeout"));
}

TEST_F(TimeoutTest, set_timeout_when_its_callback_has_no_address_operator_then_runs) {
  struct Callback {
    void operator&() const = delete;  // NOLINT(google-runtime-operator): on purpose
    void operator()() { ++*runs; }
    std::shared_ptr<int> runs;
  };
  const auto runs = std::make_shared<int>(0);
  in_task([&] { set_timeout(Callback{runs}); });
  run();
  EXPECT_EQ(*runs, 1);
  EXPECT_EQ(runs.use_count(), 1);
}

TEST_F(TimeoutTest, handle_when_destroyed_then_the_timeout_stays) {
  static_cast<void>(set("timeout", 1ms));
  loop.advance(1ms);
  EXPECT_THAT(trace.take(), ElementsAre("timeout"));
}

TEST_F(TimeoutTest, clear_when_delayed_then_does_not_run_and_its_callback_is_gone) {
  Timeout timeout = set("timeout", 1h);
  EXPECT_TRUE(clear_in_task(timeout));
  EXPECT_EQ(callbacks.alive(), 0);
  EXPECT_EQ(loop.pending(), 0U);
  loop.advance(2h);
  EXPECT_THAT(trace.take(), IsEmpty());
}

TEST_F(TimeoutTest, clear_when_already_runnable_then_does_not_run) {
  in_task([&] {
    Timeout timeout = set_timeout(note("timeout"));
    EXPECT_TRUE(timeout.clear());
  });
  EXPECT_THAT(run(), IsEmpty());
}

TEST_F(TimeoutTest, clear_when_it_expired_and_waits_for_its_turn_then_does_not_run) {
  Timeout timeout = set("timeout", 2ms);
  scheduler.post(tracked([&] { EXPECT_TRUE(timeout.clear()); }),
                 {.priority = user_blocking, .delay = 2ms});
  loop.advance(2ms);
  EXPECT_THAT(trace.take(), IsEmpty());
}

TEST_F(TimeoutTest, clear_when_one_of_several_then_the_others_keep_their_order) {
  std::vector<Timeout> timeouts;
  for (const auto* label : {"a", "b", "c", "d"}) timeouts.push_back(set(label, 3ms));
  EXPECT_TRUE(clear_in_task(timeouts[1]));
  loop.advance(3ms);
  EXPECT_THAT(trace.take(), ElementsAre("a", "c", "d"));
}

TEST_F(TimeoutTest, clear_when_nothing_is_left_then_does_nothing) {
  Timeout never;
  EXPECT_FALSE(never.clear());
  Timeout ran = set("timeout");
  run();
  EXPECT_FALSE(ran.clear());
  Timeout cleared = set("cleared", 1ms);
  EXPECT_TRUE(clear_in_task(cleared));
  EXPECT_FALSE(cleared.clear());
}

TEST_F(TimeoutTest, clear_when_its_own_callback_runs_then_the_callback_lives_to_its_end) {
  Timeout timeout;
  in_task([&] {
    timeout = set_timeout(tracked([&] {
      EXPECT_FALSE(timeout.clear());
      EXPECT_EQ(callbacks.alive(), 1);
      trace.add("end");
    }));
  });
  EXPECT_THAT(run(), ElementsAre("end"));
}

TEST_F(TimeoutTest, clear_when_the_driver_is_outside_of_any_task_then_allowed) {
  loop.needs_driver();
  Timeout timeout = set("timeout", 1h);
  EXPECT_TRUE(timeout.clear());
  EXPECT_EQ(loop.pending(), 0U);
}

TEST_F(TimeoutTest, clear_when_another_thread_drives_then_not_allowed_and_the_timeout_stays) {
  Timeout timeout = set("timeout", 1ms);
  in_task([&] { on_thread([&] { EXPECT_THROW(timeout.clear(), NotAllowedError); }); });
  loop.advance(1ms);
  EXPECT_THAT(trace.take(), ElementsAre("timeout"));
}

TEST_F(TimeoutTest, clear_when_over_then_allowed_everywhere) {
  Timeout timeout = set("timeout");
  run();
  in_task([&] { on_thread([&] { EXPECT_FALSE(timeout.clear()); }); });
}

TEST_F(TimeoutTest, handle_when_destroyed_by_another_thread_then_the_timeout_runs) {
  Timeout timeout = set("timeout", 1ms);
  on_thread([handle = std::move(timeout)] {});
  loop.advance(1ms);
  EXPECT_THAT(trace.take(), ElementsAre("timeout"));
}

TEST_F(TimeoutTest, handle_when_its_callback_owns_it_then_both_go_with_the_run) {
  auto owner = std::make_shared<Timeout>();
  const std::weak_ptr<Timeout> watch = owner;
  in_task([&] { *owner = set_timeout(tracked([owner] { EXPECT_TRUE(owner); })); });
  owner.reset();
  run();
  EXPECT_TRUE(watch.expired());
}

TEST_F(TimeoutTest, clear_when_the_callback_owns_the_handle_then_both_go) {
  auto owner = std::make_shared<Timeout>();
  const std::weak_ptr<Timeout> watch = owner;
  in_task([&] { *owner = set_timeout(tracked([owner] {}), 1h); });
  Timeout& handle = *owner;
  owner.reset();
  EXPECT_TRUE(clear_in_task(handle));
  EXPECT_TRUE(watch.expired());
}

TEST_F(TimeoutTest, handle_when_assigned_then_the_former_timeout_stays) {
  in_task([&] {
    Timeout timeout = set_timeout(note("former"), 1ms);
    timeout = set_timeout(note("latter"), 1ms);
    EXPECT_TRUE(timeout.clear());
  });
  loop.advance(1ms);
  EXPECT_THAT(trace.take(), ElementsAre("former"));
}

TEST_F(TimeoutTest, timeouts_when_cleared_by_a_callback_that_is_being_destroyed_then_gone) {
  Timeout other = set("other", 1h);
  Timeout owning;
  in_task([&] {
    owning =
        set_timeout(tracked([guard = AtDestruction([&] { EXPECT_TRUE(other.clear()); })] {}), 1h);
  });
  EXPECT_TRUE(clear_in_task(owning));
  EXPECT_EQ(loop.pending(), 0U);
}

TEST_F(TimeoutTest, timeout_when_it_throws_then_reported) {
  in_task([&] { set_timeout(tracked([] { throw std::runtime_error("thrown by a timeout"); })); });
  run();
  EXPECT_EQ(errors.take().size(), 1U);
}

// Rule: DLY-3
TEST_F(TimeoutTest, timeout_when_it_never_ends_then_can_be_cleared) {
  Timeout timeout = set("timeout", Delay::never());
  loop.advance(1h);
  EXPECT_TRUE(timeout.clear());
  EXPECT_EQ(loop.pending(), 0U);
}

// Rule: LIF-1
TEST_F(TimeoutTest, close_when_timeouts_are_armed_then_they_are_dropped_and_handles_stay_harmless) {
  loop.needs_driver();
  Timeout timeout = set("timeout", 1ms);
  std::optional<EventLoop> closing(EventLoopOptions{.clock = LoopClock::virtual_time});
  Timeout of_closed;
  Timeout refused;
  closing->scheduler().post(tracked([&] {
    of_closed = set_timeout(note("dropped"), 1h);
    set_timeout(
        tracked([guard = AtDestruction([&] { refused = set_timeout(note("refused")); })] {}), 1h);
  }));
  closing->run_until_idle();
  EXPECT_EQ(closing->close(CloseMode::abort()).aborted, 2U);
  closing.reset();
  EXPECT_FALSE(of_closed.clear());
  EXPECT_FALSE(refused.clear());
  EXPECT_TRUE(timeout.clear());
}

TEST_F(TimeoutTest, set_timeout_when_outside_of_any_loop_then_not_allowed) {
  EXPECT_THROW(static_cast<void>(set_timeout(note("timeout"))), NotAllowedError);
}

}  // namespace
}  // namespace heist
