// Shares of what a client may have, taken and given back by several network threads at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <heistd/budget.hpp>
#include <heistd/limits.hpp>
#include <heistd/outgoing.hpp>
#include <heistd/quota.hpp>
#include <thread>
#include <vector>

namespace heistd {
namespace {

// Rule: SEC-2

constexpr int rounds = 20'000;

void run_on_several_threads(const auto& round) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&round] {
      for (int j = 0; j < rounds; ++j) round();
    });
  }
}

TEST(SharesThreads, quota_when_taken_by_several_threads_then_never_more_than_there_is) {
  Quota quota(2);
  heist::detail::sync::atomic<int> taken{0};
  heist::detail::sync::atomic<int> most{0};
  run_on_several_threads([&] {
    const auto share = quota.take(1);
    if (!share) return;
    most.store(std::max(most.load(), ++taken));
    --taken;
  });
  EXPECT_LE(most.load(), 2);
  EXPECT_TRUE(quota.take(2)) << "all has come back";
}

TEST(SharesThreads, budget_when_bytes_are_taken_by_several_threads_then_never_more_than_there_are) {
  const auto budget = std::make_shared<Budget>(8, 100);
  heist::detail::sync::atomic<std::size_t> most{0};
  run_on_several_threads([&] {
    const auto memory = budget->take_memory(40);
    most.store(std::max(most.load(), budget->bytes()));
  });
  EXPECT_LE(most.load(), 100U);
  EXPECT_EQ(budget->bytes(), 0U);
}

TEST(SharesThreads, outgoing_when_held_by_several_threads_then_all_of_it_comes_back) {
  Outgoing outgoing(4 * mib);
  const SharedBlocks body = std::make_shared<const Blocks>(Blocks{std::string(mib, 'x')});
  run_on_several_threads([&] { static_cast<void>(outgoing.hold(body)); });
  const SharedBlocks all = std::make_shared<const Blocks>(Blocks{std::string(4 * mib, 'x')});
  EXPECT_TRUE(outgoing.hold(all));
}

}  // namespace
}  // namespace heistd
