#include <gtest/gtest.h>

#include <heistctl/target.hpp>

namespace heistctl {
namespace {

TEST(Target, part_when_it_has_signs_of_a_target_then_they_are_escaped) {
  EXPECT_EQ(job_target("a/../b?c=d").text(), "/jobs/a%2F..%2Fb%3Fc%3Dd");
}

TEST(Target, parameter_when_there_are_several_then_all_stand_in_the_query) {
  Target target("/jobs");
  target.part("search").parameter("pattern", "a+ b&c").parameter("empty", "");
  EXPECT_EQ(target.text(), "/jobs/search?pattern=a%2B%20b%26c&empty=");
}

}  // namespace
}  // namespace heistctl
