// What a server claims no more for a while.
#include <gmock/gmock.h>

#include <heistd/refusals.hpp>

namespace heistd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

struct RefusalsTest : testing::Test {
  void refuse(std::int64_t turn) { refusals.add(7, turn, now); }
  void wait(std::chrono::seconds time) {
    now += time;
    refusals.forget_old(now);
  }
  Refusals refusals;
  Refusals::Clock::time_point now{std::chrono::hours(1)};
};

TEST_F(RefusalsTest, add_then_a_lane_is_passed_from_the_first_turn_to_the_last_for_a_while) {
  refuse(5);
  refuse(9);
  refuse(4);
  EXPECT_THAT(refusals.passed(), ElementsAre(Pair(7, PassedTurns{4, 9})));
  wait(std::chrono::seconds(59));
  EXPECT_THAT(refusals.passed(), ElementsAre(Pair(7, PassedTurns{4, 9})));
  wait(std::chrono::seconds(1));
  EXPECT_THAT(refusals.passed(), IsEmpty());
}

TEST_F(RefusalsTest, add_when_claims_bring_more_of_them_then_all_are_passed_first) {
  for (int turn = 1; turn <= 10; ++turn) {
    refuse(turn);
    wait(std::chrono::seconds(40));
    EXPECT_THAT(refusals.passed(), ElementsAre(Pair(7, PassedTurns{1, turn})));
  }
}

TEST_F(RefusalsTest, add_when_nothing_comes_from_behind_the_last_then_the_time_ends) {
  refuse(2);
  wait(std::chrono::seconds(40));
  refuse(1);
  refuse(2);
  wait(std::chrono::seconds(20));
  EXPECT_THAT(refusals.passed(), IsEmpty());
}

TEST_F(RefusalsTest, add_when_more_of_them_come_for_ever_then_all_are_tried_again_after_an_hour) {
  for (int turn = 1; turn < 120; ++turn) {
    refuse(turn);
    wait(std::chrono::seconds(30));
    ASSERT_THAT(refusals.passed(), ElementsAre(Pair(7, PassedTurns{1, turn})));
  }
  refuse(120);
  wait(std::chrono::seconds(30));
  EXPECT_THAT(refusals.passed(), IsEmpty());
  refuse(121);
  wait(std::chrono::seconds(59));
  EXPECT_THAT(refusals.passed(), ElementsAre(Pair(7, PassedTurns{121, 121})));
}

}  // namespace
}  // namespace heistd
