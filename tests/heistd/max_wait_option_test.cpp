// Rule: WAIT-1. What --max-wait means, and what it says of a text that means nothing.
#include <gmock/gmock.h>

#include <chrono>
#include <heistd/max_wait_option.hpp>

namespace heistd {
namespace {

using namespace std::chrono_literals;
using heist::MaxWait;
using testing::HasSubstr;

MaxWait read(const std::vector<std::string>& texts) {
  return std::get<MaxWait>(parse_max_wait(texts));
}
std::string error_of(const std::vector<std::string>& texts) {
  return std::get<std::string>(parse_max_wait(texts));
}

TEST(MaxWaitOption, texts_when_well_formed_then_maxima_of_their_priorities_and_no_others) {
  EXPECT_EQ(read({}), MaxWait{});
  EXPECT_EQ(read({"background=5s"}), MaxWait{.background = 5s});
  EXPECT_EQ(read({"user-blocking=250ms", "background=60m", "user-visible=1ms"}),
            (MaxWait{.user_blocking = 250ms, .user_visible = 1ms, .background = 1h}));
}

TEST(MaxWaitOption, text_when_its_priority_is_unknown_or_missing_then_that_is_said) {
  EXPECT_THAT(error_of({"background=5s", "backgroud=5s"}),
              HasSubstr("\"backgroud=5s\": no priority is called \"backgroud\""));
  EXPECT_THAT(error_of({"=5s"}), HasSubstr("no priority is called \"\""));
  EXPECT_THAT(error_of({"5s"}), HasSubstr("\"5s\": there is no ="));
  EXPECT_THAT(error_of({""}), HasSubstr("there is no ="));
}

TEST(MaxWaitOption, text_when_its_priority_comes_twice_then_that_is_said) {
  EXPECT_THAT(error_of({"background=5s", "background=6s"}),
              HasSubstr("\"background=6s\": background has a maximum already"));
}

TEST(MaxWaitOption, text_when_its_time_is_none_or_out_of_range_then_that_is_said) {
  for (const auto* time : {"", "5", "s", "5 s", "5h", "5us", "-5s", "+5s", "0s", "0ms", "0.5s",
                           "3601s", "61m", "5sx", "4294967296ms", "99999999999999999999s"}) {
    EXPECT_THAT(error_of({std::string("background=") + time}),
                HasSubstr(std::string("\"") + time + "\" is no time from 1ms to 60m"))
        << time;
  }
}

}  // namespace
}  // namespace heistd
