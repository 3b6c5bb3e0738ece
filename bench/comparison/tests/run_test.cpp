#include "../run.hpp"

#include <gtest/gtest.h>

namespace {

TEST(Run, scaled_when_only_checking_then_less_but_not_nothing) {
  EXPECT_EQ(bench::Run(0.5).scaled(1'000), 500);
  EXPECT_EQ(bench::Run(0.001).scaled(1'000), 16);
}

TEST(Run, scaled_when_little_was_asked_for_then_no_more_than_that) {
  EXPECT_EQ(bench::Run(1).scaled(1), 1);
  EXPECT_EQ(bench::Run(0.001).scaled(1), 1);
}

}  // namespace
