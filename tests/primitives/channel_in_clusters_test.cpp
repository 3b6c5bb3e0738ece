// Rules: CHN-1 and CHN-5, between the agents of a cluster.
#include <gtest/gtest.h>

#include <heist/heist.hpp>
#include <vector>

#include "cluster/cluster_fixture.hpp"

namespace heist::support {

class ChannelsOn : public ClusterOf {};
INSTANTIATE_TEST_SUITE_P(, ChannelsOn, sizes, size_name);

// Rule: CHN-1
TEST_P(ChannelsOn, values_when_several_send_and_receive_then_each_once_and_each_senders_in_order) {
  constexpr int senders = 4;
  constexpr int each = 2'000;
  struct Value {
    int sender;
    int number;
  };
  const Channel<Value> channel(8);
  std::vector<Promise<void>> sending;
  for (int sender = 0; sender < senders; ++sender) {
    sending.push_back(scheduler().post_task([&channel, sender]() -> Promise<void> {
      for (int number = 0; number < each; ++number) {
        EXPECT_TRUE(co_await channel.send({.sender = sender, .number = number}));
      }
    }));
  }
  const auto receive = [&channel]() -> Promise<std::vector<int>> {
    std::vector<int> last(senders, -1);
    int received = 0;
    while (const auto value = co_await channel.receive()) {
      EXPECT_GT(value->number, last[static_cast<std::size_t>(value->sender)]);
      last[static_cast<std::size_t>(value->sender)] = value->number;
      ++received;
    }
    last.push_back(received);
    co_return last;
  };
  const auto first = scheduler().post_task(receive);
  const auto second = scheduler().post_task(receive);
  for (const auto& sent : sending) sent.get();
  channel.close();
  EXPECT_EQ(first.get().back() + second.get().back(), senders * each);
}

// Rule: CHN-5
TEST_P(ChannelsOn, send_when_it_is_refused_then_it_sees_what_was_done_before_the_close) {
  const Channel<int> channel(1);
  bool done = false;  // that this is no race, ThreadSanitizer sees
  const auto sending = scheduler().post_task([&]() -> Promise<bool> {
    while (co_await channel.send(1)) static_cast<void>(channel.try_receive());
    co_return done;
  });
  done = true;
  channel.close();
  EXPECT_TRUE(sending.get());
}

}  // namespace heist::support
