// Enqueue order against real time, under threads (stress/support/order_workload.hpp makes the posts
// and judges). The same test, built with an inbox that is first in, first out for each producer
// only, must fail: see stress/decoys.
#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>

#include "../../stress/support/order_workload.hpp"

namespace heist {
namespace {

using stress::OrderTotals;
using stress::OrderWorkload;
using stress::Random;

constexpr std::uint64_t seed = 20'250'101;
constexpr int rounds = 300;

OrderTotals run(OrderWorkload::Delays delays) {
  OrderWorkload workload(delays);
  Random random(seed);
  for (int i = 0; i < rounds && workload.totals().violation == nullptr; ++i) workload.round(random);
  const OrderTotals& seen = workload.totals();
  std::cout << "seed " << seed << ": " << seen.rounds << " rounds, " << seen.tasks << " tasks, "
            << seen.handed_over_pairs << " happens-before pairs across threads, "
            << seen.overlapping_chains << " overlapping chains, " << seen.overlapping_posts
            << " overlapping posts, " << seen.level_pairs << " pairs decided by level, "
            << seen.age_pairs << " by age\n";
  return seen;
}

/// A run that saw too little proves nothing.
void expect_enough(const OrderTotals& seen) {
  EXPECT_GT(seen.handed_over_pairs, 10U * rounds);
  EXPECT_GT(seen.overlapping_chains, 1U * rounds);
  EXPECT_GT(seen.overlapping_posts, 0U);
}

// Rule: ORD-1, ORD-2, ORD-3, PRI-4
TEST(Ord2, post_when_it_happened_before_another_of_its_level_then_it_runs_first) {
  const OrderTotals seen = run(OrderWorkload::Delays::none);
  EXPECT_EQ(seen.violation, nullptr) << seen.violation;
  if (HasFailure()) return;
  expect_enough(seen);
  EXPECT_GT(seen.level_pairs, 1000U);
  EXPECT_GT(seen.age_pairs, 1000U);
}

// Rule: DLY-2, ORD-4
TEST(Dly2, delayed_post_when_it_happened_before_one_with_no_shorter_delay_then_it_runs_first) {
  const OrderTotals seen = run(OrderWorkload::Delays::some);
  EXPECT_EQ(seen.violation, nullptr) << seen.violation;
  if (HasFailure()) return;
  expect_enough(seen);
}

}  // namespace
}  // namespace heist
