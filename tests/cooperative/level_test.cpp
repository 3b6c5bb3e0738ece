// The level of what runs. Rule: COOP-7.
#include <gmock/gmock.h>

#include <heist/heist.hpp>
#include <memory>
#include <stdexcept>

#include "support/cooperative_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;

class CooperativeLevel : public CooperativeFixture {
 protected:
  [[nodiscard]] std::string level() const { return name_of(scheduler.current_priority_level()); }
};

TEST_F(CooperativeLevel, level_when_a_task_runs_then_the_tasks_and_normal_again_afterwards) {
  EXPECT_EQ(level(), "normal");
  scheduler.schedule_callback(idle, [this]() -> CooperativeCallback {
    trace.add(level());
    return [this] { trace.add(level()); };
  });
  EXPECT_THAT(run(), ElementsAre("idle", "idle"));
  EXPECT_EQ(level(), "normal");
}

TEST_F(CooperativeLevel, run_with_priority_when_it_returns_or_throws_then_the_level_is_back) {
  const int value = scheduler.run_with_priority(low, [this] {
    EXPECT_EQ(level(), "low");
    return 7;
  });
  EXPECT_EQ(value, 7);
  EXPECT_EQ(level(), "normal");
  EXPECT_THROW(scheduler.run_with_priority(low, [] { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_EQ(level(), "normal");
  scheduler.run_with_priority(static_cast<CooperativePriority>(9),
                              [this] { EXPECT_EQ(level(), "normal"); });
}

TEST_F(CooperativeLevel, next_when_above_normal_then_normal_and_below_it_stays) {
  scheduler.run_with_priority(immediate, [this] {
    scheduler.next([this] { EXPECT_EQ(level(), "normal"); });
    EXPECT_EQ(level(), "immediate");
  });
  scheduler.run_with_priority(idle,
                              [this] { scheduler.next([this] { EXPECT_EQ(level(), "idle"); }); });
}

TEST_F(CooperativeLevel, wrapped_callback_when_called_later_then_at_the_level_of_its_making) {
  auto wrapped = scheduler.run_with_priority(user_blocking, [this] {
    return scheduler.wrap_callback([this, sum = std::make_unique<int>(0)](int add) {
      EXPECT_EQ(level(), "user-blocking");
      return *sum += add;
    });
  });
  EXPECT_EQ(wrapped(2), 2);
  EXPECT_EQ(wrapped(3), 5);
  EXPECT_EQ(level(), "normal");
}

TEST_F(CooperativeLevel, task_when_scheduled_within_a_level_then_its_own_decides) {
  scheduler.run_with_priority(idle, [this] { schedule(user_blocking, "inside"); });
  schedule(normal, "outside");
  EXPECT_THAT(run(), ElementsAre("inside", "outside"));
}

}  // namespace
}  // namespace heist::support
