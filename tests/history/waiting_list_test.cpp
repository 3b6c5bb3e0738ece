// WaitingList counts as a sorted vector does.
#include "../../stress/support/history/waiting_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "../../stress/support/stress_run.hpp"

namespace heist::support {
namespace {

using stress::Moment;
using stress::WaitingList;

struct Waiting {
  Moment since = 0;
  std::uint64_t place = 0;
};

std::size_t count_before(const std::vector<Waiting>& all, Moment moment) {
  return static_cast<std::size_t>(
      std::ranges::count_if(all, [&](const Waiting& w) { return w.since < moment; }));
}

/// Adds and removes at random, and compares. With `is_fifo` it removes only near the old end.
void compare_at_random(std::uint64_t adds_in_ten, bool is_fifo, std::uint64_t seed) {
  stress::Random random(seed);
  WaitingList<Moment> list;
  std::vector<Waiting> expected;
  Moment now = 0;
  for (int step = 0; step < 3000; ++step) {
    if (random.below(10) < adds_in_ten || expected.empty()) {
      now += random.below(3);
      expected.push_back({now, list.add(now, now)});
    } else {
      const std::size_t range =
          is_fifo ? std::min<std::size_t>(3, expected.size()) : expected.size();
      const auto at = expected.begin() + static_cast<std::ptrdiff_t>(random.below(range));
      list.remove(at->place);
      expected.erase(at);
    }
    const Moment moment = random.one_in(4) ? now : random.below(now + 2);
    ASSERT_EQ(list.count_before(moment), count_before(expected, moment));
    ASSERT_EQ(list.size(), expected.size());
    ASSERT_TRUE(expected.empty() || list.oldest() == expected.front().since);
  }
}

TEST(WaitingList, count_before_when_elements_come_and_go_then_as_a_sorted_vector) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    for (const std::uint64_t adds_in_ten : {5U, 6U, 9U}) {
      compare_at_random(adds_in_ten, true, seed);
      compare_at_random(adds_in_ten, false, seed);
    }
  }
}

TEST(WaitingList, remove_when_the_oldest_stays_then_the_others_are_evicted_all_the_same) {
  WaitingList<std::shared_ptr<int>> list;
  const auto witness = std::make_shared<int>();
  list.add(0, witness);
  for (Moment now = 1; now <= 1000; ++now) list.remove(list.add(now, witness));
  EXPECT_EQ(list.size(), 1U);
  EXPECT_LE(witness.use_count(), 1 + 2 * 64) << "elements of whole blocks that have left";
}

}  // namespace
}  // namespace heist::support
