// Cooperative schedulers on a loop that is not heist's. Rule: COOP-8, COOP-9, LIF-2.
#include <gmock/gmock.h>

#include <heist/heist.hpp>
#include <optional>
#include <utility>

#include "support/cooperative_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;

/// Delivers its messages when it is told to.
class ManualHost final : public CooperativeHost {
 public:
  void post_message() noexcept override { ++messages; }
  void set_timeout(Milliseconds /*delay*/) noexcept override {}
  void clear_timeout() noexcept override {}
  [[nodiscard]] Milliseconds now() const noexcept override { return time; }

  int messages = 0;
  Milliseconds time{};
};

class CooperativeOnHost : public CooperativeFixture {
 protected:
  ManualHost host;
  std::optional<CooperativeScheduler> foreign{CooperativeScheduler(host)};
};

TEST_F(CooperativeOnHost, last_handle_when_a_callback_drops_it_then_the_work_ends_all_the_same) {
  foreign->schedule_callback(normal, tracked([this] {
                               trace.add("drops");
                               foreign.reset();
                             }));
  foreign->schedule_callback(normal, note("next"));
  const CooperativeScheduler& called = *foreign;
  called.perform_work();
  EXPECT_THAT(trace.take(), ElementsAre("drops", "next"));
  EXPECT_EQ(callbacks.alive(), 0);
}

TEST_F(CooperativeOnHost, callbacks_that_hold_handles_when_closed_then_destroyed) {
  foreign->schedule_callback(normal, tracked([handle = *foreign] {}));
  foreign->schedule_callback(normal, tracked([handle = *foreign] {}), {.delay = 1h});
  std::exchange(foreign, std::nullopt)->close();
  EXPECT_EQ(callbacks.alive(), 0);
}

TEST_F(CooperativeOnHost, tasks_when_one_closes_then_the_others_are_dropped_and_new_ones_refused) {
  foreign->schedule_callback(normal, tracked([this]() -> CooperativeCallback {
                               foreign->close();
                               trace.add("closes");
                               return note("never");
                             }));
  foreign->schedule_callback(normal, note("never"));
  foreign->perform_work();
  EXPECT_THAT(trace.take(), ElementsAre("closes"));
  EXPECT_EQ(callbacks.alive(), 0);
  EXPECT_FALSE(foreign->schedule_callback(normal, note("never")));
  foreign->perform_work();
}

TEST_F(CooperativeOnHost, scheduler_when_the_end_of_a_callback_closes_it_then_no_more_is_called) {
  foreign->schedule_callback(normal, [last = AtDestruction([this] { foreign->close(); })] {});
  foreign->schedule_callback(normal, note("never"));
  foreign->perform_work();
  EXPECT_EQ(callbacks.alive(), 0);
  EXPECT_THAT(trace.take(), ElementsAre());
}

TEST_F(CooperativeOnHost, coroutine_then_refused_before_it_is_called) {
  foreign->schedule_callback(normal, [this]() -> Promise<void> {
    trace.add("never");
    host.time += Milliseconds(6);
    co_await slice();
  });
  foreign->schedule_callback(normal, note("next"));
  EXPECT_THROW(foreign->perform_work(), NotAllowedError);
  foreign->perform_work();
  EXPECT_THAT(trace.take(), ElementsAre("next"));
}

TEST_F(CooperativeOnHost, slice_when_in_an_event_loop_that_the_task_drives_then_refused) {
  foreign->schedule_callback(normal, [this] {
    host.time += Milliseconds(6);
    auto in_a_task = loop.scheduler().post_task([]() -> Promise<void> { co_await slice(); });
    loop.run_until_idle();
    ASSERT_TRUE(in_a_task.settled());
    EXPECT_THROW(std::move(in_a_task).get(), NotAllowedError);
  });
  foreign->perform_work();
}

TEST_F(CooperativeOnHost, hosts_calls_when_it_is_an_event_loop_then_refused_and_nothing_is_lost) {
  loop.scheduler().post([this] {
    schedule(normal, "cooperative");
    EXPECT_THROW(scheduler.perform_work(), NotAllowedError);
    scheduler.expire_timeout();
    schedule(normal, "one more");
  });
  post("plain");
  EXPECT_THAT(run(), ElementsAre("plain", "cooperative", "one more"));
  EXPECT_EQ(loop.pending(), 0U);
}

TEST_F(CooperativeOnHost, scheduler_when_its_ceiling_is_below_user_visible_then_refused) {
  EXPECT_THROW(CooperativeScheduler{loop.scheduler().with_ceiling(TaskPriority::background)},
               NotAllowedError);
  EXPECT_NO_THROW(CooperativeScheduler{loop.scheduler().with_ceiling(TaskPriority::user_visible)});
}

}  // namespace
}  // namespace heist::support
