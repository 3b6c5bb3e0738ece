// Large blocks are freed by tasks, in portions; what is small, and what nobody would free, at once.
#include <gtest/gtest.h>

#include <heist/event_loop.hpp>
#include <heistd/block_disposal.hpp>
#include <heistd/limits.hpp>
#include <memory>
#include <optional>

namespace heistd {
namespace {

class BlockDisposalTest : public testing::Test {
 protected:
  static Blocks blocks(std::size_t count) { return Blocks(count, std::string(100, 'x')); }
  static SharedBlocks shared(std::size_t count) { return std::make_shared<Blocks>(blocks(count)); }
  BlockDisposal disposal() { return BlockDisposal(loop->scheduler()); }
  /// How many tasks it took.
  std::size_t run() { return loop->run_until_idle(); }

  const std::shared_ptr<Budget> budget = std::make_shared<Budget>(10, 10 * mib);
  std::optional<heist::EventLoop> loop{std::in_place};
};

TEST_F(BlockDisposalTest, free_when_large_then_several_tasks_do_it) {
  disposal().free(blocks(1000));
  EXPECT_GT(run(), 5U);
}

TEST_F(BlockDisposalTest, free_when_large_then_the_budget_counts_them_until_the_last_is_free) {
  disposal().free(blocks(100), budget->take_memory(mib));
  EXPECT_EQ(loop->run_one(), 1U);
  EXPECT_EQ(budget->bytes(), 0U) << "the four that are left are freed at once";
  disposal().free(blocks(200), budget->take_memory(mib));
  EXPECT_EQ(loop->run_one(), 1U);
  EXPECT_EQ(budget->bytes(), mib);
  run();
  EXPECT_EQ(budget->bytes(), 0U);
}

TEST_F(BlockDisposalTest, free_when_small_then_no_task) {
  disposal().free(blocks(2));
  EXPECT_EQ(run(), 0U);
}

TEST_F(BlockDisposalTest, share_when_another_share_is_left_then_it_stays) {
  auto first = disposal().share(shared(1000));
  const auto second = first;
  first.reset();
  EXPECT_EQ(run(), 0U);
  EXPECT_EQ(second->size(), 1000U);
}

TEST_F(BlockDisposalTest, share_when_no_share_is_left_then_tasks_free_it) {
  static_cast<void>(disposal().share(shared(1000)));
  EXPECT_GT(run(), 5U);
}

TEST_F(BlockDisposalTest, share_when_the_loop_has_closed_then_it_goes_at_once) {
  auto share = disposal().share(shared(1000));
  const std::weak_ptr<const Blocks> seen = share;
  loop.reset();
  share.reset();
  EXPECT_TRUE(seen.expired());
}

TEST_F(BlockDisposalTest, disposed_blocks_when_they_go_then_tasks_free_them) {
  {
    DisposedBlocks received(disposal(), std::move(*budget->take_job()));
    *received = blocks(1000);
    const DisposedBlocks moved = std::move(received);
  }
  EXPECT_EQ(budget->jobs(), 1U) << "they are not free yet";
  EXPECT_GT(run(), 5U);
  EXPECT_EQ(budget->jobs(), 0U);
}

}  // namespace
}  // namespace heistd
