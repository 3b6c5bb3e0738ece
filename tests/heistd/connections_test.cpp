// Who gets a connection, and who loses one.
#include <gtest/gtest.h>
#include <algorithm>

#include <boost/asio/ip/address.hpp>
#include <heistd/addresses.hpp>
#include <heistd/client.hpp>
#include <heistd/connections.hpp>
#include <memory>
#include <string>
#include <vector>

namespace heistd {
namespace {

struct ConnectionsTest : testing::Test {
  struct Peer {
    std::unique_ptr<Connections::Place> place;
    bool evicted = false;
  };

  /// The peer stays where it is in memory.
  Peer& open(const std::string& network = "") {
    auto& peer = *peers.emplace_back(std::make_unique<Peer>());
    peer.place = std::make_unique<Connections::Place>(connections, network,
                                                      [&peer] { peer.evicted = true; });
    return peer;
  }
  /// One with a request under way.
  Peer& open_busy(Client& client, const std::string& network = "") {
    auto& peer = open(network);
    EXPECT_TRUE(peer.place->begin(client));
    return peer;
  }
  void open_many(std::size_t count, const std::string& network = "") {
    for (std::size_t i = 0; i < count; ++i) open(network);
  }

  static Limits sixteen() {
    Limits limits;
    limits.max_connections = 16;
    return limits;
  }
  Limits limits = sixteen();
  Client anonymous{"anonymous", heist::TaskPriority::background, limits, true};
  Client alice{"alice", heist::TaskPriority::background, limits};
  Client bob{"bob", heist::TaskPriority::background, limits};
  Connections connections{limits};
  std::vector<std::unique_ptr<Peer>> peers;
};

TEST_F(ConnectionsTest, shares_when_not_given_then_follow_from_the_number_of_connections) {
  const ConnectionShares shares(limits);
  EXPECT_EQ(shares.busy, 14U);
  EXPECT_EQ(shares.client, 12U);
  EXPECT_EQ(shares.address, 4U);
  EXPECT_EQ(shares.waiting, 8U);
}

TEST_F(ConnectionsTest, shares_when_there_are_few_connections_then_each_can_still_do_something) {
  for (std::size_t all = 2; all < 16; ++all) {
    limits.max_connections = all;
    const ConnectionShares shares(limits);
    EXPECT_LT(shares.busy, all);
    EXPECT_GE(shares.busy, 1U);
    EXPECT_GE(shares.waiting, 1U);
    EXPECT_LE(shares.client, shares.busy);
    // From three requests on, one client cannot have all of them.
    EXPECT_TRUE(shares.client < shares.busy || shares.busy < 2) << all;
  }
}

TEST_F(ConnectionsTest, open_when_all_are_idle_then_the_one_that_is_so_for_longest_goes) {
  auto& first = open();
  auto& second = open();
  open_many(14);
  first.place->end();  // it has just been answered
  open();
  EXPECT_FALSE(first.evicted);
  EXPECT_TRUE(second.evicted);
}

TEST_F(ConnectionsTest, open_when_some_have_shown_a_token_then_those_without_go_first) {
  auto& known = open_busy(alice);
  known.place->end();
  open_many(15);
  for (int i = 0; i < 20; ++i) open();
  EXPECT_FALSE(known.evicted);
}

TEST_F(ConnectionsTest, open_when_idle_ones_with_a_token_take_all_then_one_of_them_goes) {
  std::vector<Peer*> known;
  for (int i = 0; i < 16; ++i) {
    known.push_back(&open_busy(alice));
    known.back()->place->end();
  }
  auto& stranger = open();
  EXPECT_TRUE(known.front()->evicted);
  EXPECT_FALSE(stranger.evicted);
}

TEST_F(ConnectionsTest, open_when_requests_are_under_way_then_they_are_left_alone) {
  std::vector<Peer*> busy;
  for (int i = 0; i < 12; ++i) busy.push_back(&open_busy(anonymous));
  for (int i = 0; i < 2; ++i) busy.push_back(&open_busy(alice));
  open_many(40);
  for (const auto* peer : busy) EXPECT_FALSE(peer->evicted);
  EXPECT_TRUE(std::ranges::any_of(peers, [](const auto& peer) { return peer->evicted; }));
}

TEST_F(ConnectionsTest, begin_when_one_client_has_its_share_then_refused_and_others_are_not) {
  for (int i = 0; i < 12; ++i) open_busy(anonymous);
  EXPECT_FALSE(open().place->begin(anonymous));
  EXPECT_TRUE(open().place->begin(alice));
  EXPECT_TRUE(open().place->begin(bob));
  EXPECT_FALSE(open().place->begin(bob)) << "two places are for those yet to be judged";
}

TEST_F(ConnectionsTest, begin_when_the_request_is_under_way_then_it_goes_on_and_counts_once) {
  for (int i = 0; i < 11; ++i) open_busy(anonymous);
  auto& last = open_busy(anonymous);
  EXPECT_TRUE(last.place->begin(anonymous));
  last.place->end();
  EXPECT_TRUE(open().place->begin(anonymous));
}

TEST_F(ConnectionsTest, begin_when_a_request_has_ended_then_there_is_room_again) {
  auto& first = open_busy(anonymous);
  for (int i = 0; i < 11; ++i) open_busy(anonymous);
  auto& next = open();
  ASSERT_FALSE(next.place->begin(anonymous));
  first.place->end();
  EXPECT_TRUE(next.place->begin(anonymous));
  next.place.reset();
  EXPECT_TRUE(first.place->begin(anonymous));
  EXPECT_EQ(anonymous.requests_under_way, 12);
}

TEST_F(ConnectionsTest, begin_when_the_connection_made_room_then_refused) {
  auto& first = open();
  open_many(16);
  ASSERT_TRUE(first.evicted);
  EXPECT_FALSE(first.place->begin(alice));
  first.place->end();
  open_many(16);  // the fixture's destructors end all of them once more
  EXPECT_EQ(alice.requests_under_way, 0);
}

TEST_F(ConnectionsTest, network_when_it_has_its_share_then_it_makes_room_for_itself) {
  auto& other = open("198.51.100.1");
  auto& first = open("192.0.2.1");
  open_many(3, "192.0.2.1");
  EXPECT_FALSE(first.evicted);
  open("192.0.2.1");
  EXPECT_TRUE(first.evicted);
  open_many(40, "192.0.2.1");
  EXPECT_FALSE(other.evicted);
}

TEST_F(ConnectionsTest, network_when_it_has_its_share_of_requests_then_only_a_token_helps) {
  for (int i = 0; i < 4; ++i) open_busy(anonymous, "192.0.2.1");
  EXPECT_FALSE(open("192.0.2.1").place->begin(anonymous));
  EXPECT_TRUE(open("198.51.100.1").place->begin(anonymous));
  EXPECT_TRUE(open("192.0.2.1").place->begin(alice));
}

TEST_F(ConnectionsTest, network_when_it_shows_tokens_then_it_has_no_limit) {
  for (int i = 0; i < 10; ++i) open_busy(alice, "192.0.2.1");
  EXPECT_TRUE(open("192.0.2.1").place->begin(anonymous));
}

TEST_F(ConnectionsTest, network_when_it_is_this_machine_then_it_has_no_limit) {
  for (int i = 0; i < 10; ++i) open_busy(anonymous);
  EXPECT_TRUE(open().place->begin(anonymous));
}

TEST_F(ConnectionsTest,
       evict_idle_then_whoever_has_been_idle_for_longest_goes_but_never_the_last_one) {
  open_busy(bob);
  auto& known = open_busy(alice);
  known.place->end();
  auto& stranger = open();
  connections.evict_idle();
  EXPECT_TRUE(stranger.evicted);
  connections.evict_idle();
  EXPECT_FALSE(known.evicted);
}

TEST(NetworkOf, address_then_what_its_connections_are_counted_by) {
  const auto of = [](const char* text) { return network_of(boost::asio::ip::make_address(text)); };
  EXPECT_EQ(network_of(boost::asio::ip::make_address("127.0.0.2"), true), "127.0.0.2");
  EXPECT_EQ(of("127.0.0.1"), "");
  EXPECT_EQ(of("127.8.9.10"), "");
  EXPECT_EQ(of("::1"), "");
  EXPECT_EQ(of("::ffff:127.0.0.1"), "");
  EXPECT_EQ(of("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(of("::ffff:192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(of("2001:db8:1:2:3:4:5:6"), of("2001:db8:1:2:ffff::"));
  EXPECT_NE(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
  EXPECT_EQ(of("fe80::1%2"), of("fe80::2%3"));
}

}  // namespace
}  // namespace heistd
