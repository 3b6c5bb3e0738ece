// How much may be kept only because a client has not read it yet.
#include <gtest/gtest.h>

#include <heistd/limits.hpp>
#include <heistd/outgoing.hpp>

namespace heistd {
namespace {

SharedBlocks body_of(std::size_t size) {
  return std::make_shared<const Blocks>(Blocks{std::string(size, 'x')});
}

TEST(Outgoing, hold_when_the_replies_are_too_large_then_nothing_until_one_has_gone) {
  Outgoing outgoing(mib);
  const auto first = body_of(mib / 2);
  const auto second = body_of(mib / 2 + 1);
  auto hold = outgoing.hold(first);
  ASSERT_TRUE(hold);
  EXPECT_FALSE(outgoing.hold(second));
  hold.reset();
  EXPECT_TRUE(outgoing.hold(second));
}

TEST(Outgoing, hold_when_one_result_has_several_readers_then_it_counts_once) {
  Outgoing outgoing(mib);
  const auto result = body_of(mib);
  auto first = outgoing.hold(result);
  auto second = outgoing.hold(result);
  ASSERT_TRUE(first && second);
  first.reset();
  EXPECT_FALSE(outgoing.hold(body_of(mib))) << "the second reader is not done";
  second.reset();
  EXPECT_TRUE(outgoing.hold(body_of(mib)));
}

TEST(Outgoing, hold_when_the_reply_is_small_then_it_does_not_count) {
  Outgoing outgoing(0);
  EXPECT_TRUE(outgoing.hold(body_of(block_bytes)));
  EXPECT_FALSE(outgoing.hold(body_of(block_bytes + 1)));
}

}  // namespace
}  // namespace heistd
