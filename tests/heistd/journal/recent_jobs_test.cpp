// Which jobs are recent ones, and for how long.
#include <heistd/journal/recent_jobs.hpp>

#include "journal_fixture.hpp"

namespace heistd {
namespace {

// Rule: JRN-1
TEST(RecentJobsTest, take_then_the_upload_comes_once) {
  RecentJobs recent;
  recent.add(id_of(1), std::make_shared<const Blocks>(Blocks{"some ", "bytes"}));
  recent.add(id_of(2), nullptr);
  recent.add(id_of(3), blocks("others"));
  EXPECT_EQ(recent.take(id_of(1)), "some bytes");
  EXPECT_EQ(recent.take(id_of(2)), "");
  EXPECT_EQ(recent.take(id_of(1)), std::nullopt);
  recent.remove(id_of(3));
  recent.remove(id_of(4));
  EXPECT_EQ(recent.take(id_of(3)), std::nullopt);
}

TEST(RecentJobsTest, add_when_there_are_too_many_then_the_oldest_goes) {
  RecentJobs recent;
  const auto count = static_cast<int>(RecentJobs::most_jobs);
  for (int number = 0; number <= count; ++number) recent.add(id_of(number), blocks("x"));
  EXPECT_EQ(recent.take(id_of(0)), std::nullopt);
  recent.add(id_of(count + 1), nullptr);  // in the room of the one that goes now
  EXPECT_EQ(recent.take(id_of(1)), std::nullopt);
  recent.remove(id_of(2));
  recent.add(id_of(count + 2), nullptr);
  EXPECT_EQ(recent.take(id_of(3)), "x");
}

TEST(RecentJobsTest, add_when_uploads_take_too_much_then_the_oldest_go) {
  RecentJobs recent;
  const auto upload = blocks(std::string(RecentJobs::most_bytes / 4, 'x'));
  for (int number = 0; number < 6; ++number) recent.add(id_of(number), upload);
  for (const int gone : {0, 1, 2}) EXPECT_EQ(recent.take(id_of(gone)), std::nullopt);
  recent.remove(id_of(3));
  recent.add(id_of(6), upload);
  EXPECT_TRUE(recent.take(id_of(4)));
}

}  // namespace
}  // namespace heistd
