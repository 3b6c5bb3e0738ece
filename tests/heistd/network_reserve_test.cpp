// The network thread goes on without memory, and what clients can make grow does not.
#include <heistd/network_reserve.hpp>
#include <new>
#include <set>
#include <thread>
#include <vector>

#include "api_fixture.hpp"
#include "no_memory.hpp"

namespace heistd {
namespace {

/// True when operator new finds memory.
bool allocates() {
  try {
    return std::make_unique<std::array<char, 100>>() != nullptr;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/// Has the reserve give pieces.
void use_up(std::size_t pieces) {
  const NoMemory none(0);
  while (pieces-- > 0) EXPECT_TRUE(allocates());
}

bool allocates_withheld() {
  try {
    const NetworkReserve::Withheld withheld;
    return allocates();
  } catch (const std::bad_alloc&) {
    return false;
  }
}

TEST(NetworkReserve, allocation_when_there_is_no_memory_then_it_gets_pieces_until_there_are_none) {
  NetworkReserve reserve;
  std::size_t given = 0;
  {
    const NoMemory none(0);
    while (allocates()) ++given;
  }
  EXPECT_EQ(given, NetworkReserve::max_pieces);
  EXPECT_TRUE(reserve.is_low());
  EXPECT_TRUE(reserve.refill());
  EXPECT_FALSE(reserve.is_low());
}

TEST(NetworkReserve, allocation_when_the_reserve_is_withheld_then_bad_alloc_and_it_stays_whole) {
  const NetworkReserve reserve;
  {
    const NoMemory none(0);
    EXPECT_FALSE(allocates_withheld());
  }
  EXPECT_TRUE(allocates_withheld());
}

TEST(NetworkReserve, allocation_when_much_of_the_reserve_is_missing_then_what_clients_grow_waits) {
  NetworkReserve reserve;
  use_up(NetworkReserve::max_pieces / 4);
  EXPECT_TRUE(allocates_withheld());
  use_up(1);
  EXPECT_FALSE(allocates_withheld());
  EXPECT_TRUE(reserve.refill());
  EXPECT_TRUE(allocates_withheld());
}

TEST(NetworkReserve, allocation_when_on_another_thread_then_it_gets_nothing) {
  const NetworkReserve reserve;
  std::thread([] {
    const NoMemory none(0);
    EXPECT_FALSE(allocates());
  }).join();
}

class NetworkReserveApi : public ApiFixture {
 protected:
  /// The reply's status, when the n-th allocation fails for each n in turn; 503 for std::bad_alloc,
  /// as sessions have it.
  std::set<unsigned> statuses_of(std::string_view method, const std::string& target) {
    std::set<unsigned> statuses;
    bool struck = true;
    for (std::size_t successes = 0; struck; ++successes) {
      const NoMemory none(successes, NoMemory::Fails::once);
      try {
        statuses.insert(call(method, target).status);
      } catch (const std::bad_alloc&) {
        statuses.insert(503);
      }
      struck = none.struck();
      reserve.refill();
    }
    return statuses;
  }

  NetworkReserve reserve;
};

using Statuses = std::set<unsigned>;

TEST_F(NetworkReserveApi, request_when_an_allocation_fails_then_only_what_takes_memory_is_refused) {
  EXPECT_EQ(statuses_of("GET", "/healthz"), Statuses{200});
  EXPECT_EQ(statuses_of("GET", "/stats"), Statuses{200});
  EXPECT_EQ(statuses_of("GET", "/page.js"), (Statuses{200, 503}));
  EXPECT_EQ(statuses_of("GET", post("/jobs/digest")), Statuses{200});
  EXPECT_EQ(statuses_of("POST", "/jobs/digest"), (Statuses{202, 503}));
  authorization =
      "Bearer a";  // it is hashed, which takes OpenSSL's memory, and that has no reserve
  EXPECT_EQ(statuses_of("GET", "/stats"), (Statuses{200, 503}));
}

TEST_F(NetworkReserveApi,
       request_when_much_of_the_reserve_is_missing_then_only_what_takes_memory_is_refused) {
  const auto job = post("/jobs/digest");
  use_up(NetworkReserve::max_pieces / 2);
  EXPECT_THROW(call("POST", "/jobs/digest"), std::bad_alloc);
  EXPECT_THROW(call("PUT", "/signals/s?priority=background"), std::bad_alloc);
  EXPECT_THROW(call("GET", "/"), std::bad_alloc);
  EXPECT_THROW(call("GET", "/kinds"), std::bad_alloc);
  EXPECT_EQ(call("GET", "/healthz").status, 200U);
  EXPECT_EQ(call("DELETE", job).status, 200U);
  reserve.refill();
  EXPECT_EQ(call("POST", "/jobs/digest").status, 202U);
}

}  // namespace
}  // namespace heistd
