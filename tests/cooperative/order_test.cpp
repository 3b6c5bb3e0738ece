// What runs first, and when. Rule: COOP-1.
#include <gmock/gmock.h>

#include <heist/heist.hpp>
#include <string>
#include <vector>

#include "support/cooperative_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;

class CooperativeOrder : public CooperativeFixture {};

TEST_F(CooperativeOrder, tasks_when_of_all_levels_then_those_that_expire_first_run_first) {
  for (const auto level : {idle, low, normal, user_blocking, immediate}) {
    schedule(level, name_of(level));
  }
  EXPECT_THAT(run(), ElementsAre("immediate", "user-blocking", "normal", "low", "idle"));
}

TEST_F(CooperativeOrder,
       task_of_a_low_level_when_it_has_waited_long_then_before_newer_urgent_ones) {
  schedule(normal, "old");
  busy(4'800ms);
  schedule(user_blocking, "new");
  EXPECT_THAT(run(), ElementsAre("old", "new"));
}

TEST_F(CooperativeOrder, tasks_when_they_expire_at_once_then_the_older_runs_first) {
  schedule(user_blocking, "older");
  busy(251ms);
  schedule(immediate, "younger");
  EXPECT_THAT(run(), ElementsAre("older", "younger"));
}

TEST_F(CooperativeOrder, delayed_tasks_when_scheduled_in_any_order_then_by_their_start) {
  schedule(normal, "late", 30ms);
  schedule(normal, "early", 10ms);
  schedule(normal, "between", 20ms);
  EXPECT_THAT(run(), ElementsAre());
  EXPECT_THAT(advance(20ms), ElementsAre("early", "between"));
  EXPECT_THAT(advance(10ms), ElementsAre("late"));
}

TEST_F(CooperativeOrder, delayed_task_when_its_delay_ends_amid_work_then_it_takes_its_place) {
  schedule(user_blocking, "delayed", 10ms);
  scheduler.schedule_callback(normal, [this] {
    trace.add("works");
    busy(10ms);
  });
  schedule(normal, "next");
  EXPECT_THAT(run(), ElementsAre("works", "delayed", "next"));
}

TEST_F(CooperativeOrder, delayed_tasks_when_their_starts_are_ticks_then_on_time) {
  for (int begin = 1; begin < 1000; ++begin) {
    busy(std::chrono::microseconds(begin));
    const auto rest = 1ms - loop.now() % 1ms;
    schedule(normal, "on time", std::chrono::duration<double, std::milli>(rest));
    run();
    ASSERT_THAT(advance(rest), ElementsAre("on time")) << loop.now().count();
  }
}

TEST_F(CooperativeOrder, delayed_task_when_its_delay_is_no_exact_number_then_on_time_all_the_same) {
  busy(993us);
  schedule(normal, "delayed", 2007us);
  EXPECT_THAT(advance(2007us), ElementsAre("delayed"));
}

TEST_F(CooperativeOrder, delay_when_it_is_not_above_zero_then_none) {
  schedule(normal, "no delay", -1ms);
  EXPECT_THAT(run(), ElementsAre("no delay"));
}

}  // namespace
}  // namespace heist::support
