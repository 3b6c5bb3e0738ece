// When a server's lease is renewed, and when it has lapsed.
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <heistd/postgresql/postgres_lease.hpp>

namespace heistd {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

TEST(PostgresLease, renewal_when_the_machine_has_slept_then_the_lease_has_lapsed) {
  boost::asio::io_context io;
  PostgresLease::Clock::time_point now;
  int renewals = 0;
  int lapses = 0;
  PostgresLease lease(io.get_executor(), milliseconds(80), {[&] { ++renewals; }, [&] { ++lapses; }},
                      [&now] { return now; });
  lease.renewed(now);
  io.run_one();
  EXPECT_EQ(renewals, 1);
  EXPECT_TRUE(lease.holds());
  now += minutes(1);
  EXPECT_FALSE(lease.holds());
  io.run_one();  // its timers do not know
  EXPECT_EQ(renewals, 1);
  EXPECT_EQ(lapses, 1);
}

TEST(PostgresLease, clock_then_it_counts_the_time_in_which_the_machine_slept) {
  std::timespec before{};
  std::timespec after{};
  ::clock_gettime(CLOCK_BOOTTIME, &before);
  const auto now = PostgresLease::Clock::now().time_since_epoch();
  ::clock_gettime(CLOCK_BOOTTIME, &after);
  EXPECT_GE(now / std::chrono::seconds(1), before.tv_sec);
  EXPECT_LE(now / std::chrono::seconds(1), after.tv_sec);
}

}  // namespace
}  // namespace heistd
