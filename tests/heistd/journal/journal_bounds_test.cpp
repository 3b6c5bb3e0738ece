// What is kept of finished jobs: in the journals of one server, which look after each end.
#include "journal_fixture.hpp"

namespace heistd {
namespace {

template <class Implementation>
class JournalBoundsTest : public JournalTest<Implementation> {};
TYPED_TEST_SUITE(JournalBoundsTest, Journals);

TYPED_TEST(JournalBoundsTest, bounds_when_results_are_too_many_bytes_then_the_oldest_go) {
  this->open({.finished_bytes = 2 * finished_record_bytes + 20});
  for (int number = 1; number <= 3; ++number) {
    this->submit(new_job(number));
    this->now += milliseconds(1);
    this->complete(number, "ten bytes.");
  }
  EXPECT_FALSE(this->knows(1));
  EXPECT_EQ(this->result(1), "");
  EXPECT_TRUE(this->knows(2));
  EXPECT_TRUE(this->knows(3));
}

TYPED_TEST(JournalBoundsTest, bounds_when_the_payload_of_a_dead_job_is_kept_then_it_counts) {
  this->open({.finished_bytes = 2 * finished_record_bytes + 20});
  this->submit(new_job(1, "ten bytes."));
  this->kill(1);
  this->submit(new_job(2));
  this->now += milliseconds(1);
  this->complete(2, "ten bytes.");
  EXPECT_TRUE(this->knows(1));
  said(this->journal->requeue(id_of(1)));
  this->now += milliseconds(1);
  this->complete(1, "eleven byte");
  EXPECT_FALSE(this->knows(2));
}

TYPED_TEST(JournalBoundsTest, bounds_when_one_result_is_too_large_then_the_newest_stays) {
  this->open({.finished_bytes = 1});
  this->submit(new_job(1));
  this->complete(1);
  EXPECT_EQ(this->result(1), "result");
}

TYPED_TEST(JournalBoundsTest, bounds_when_results_are_too_old_then_they_go_with_the_next_end) {
  this->open({.finished_age = std::chrono::seconds(10)});
  this->submit(new_job(1));
  this->submit(new_job(2));
  this->complete(1);
  this->now += milliseconds(10001);
  this->complete(2);
  EXPECT_FALSE(this->knows(1));
  EXPECT_TRUE(this->knows(2));
}

TYPED_TEST(JournalBoundsTest, bounds_when_a_job_is_unfinished_then_it_stays_however_old) {
  this->open({.finished_bytes = 1, .finished_age = std::chrono::seconds(1)});
  this->submit(new_job(1));
  this->now += std::chrono::hours(1000);
  for (const int number : {2, 3}) {
    this->submit(new_job(number));
    this->complete(number);
  }
  EXPECT_EQ(this->payload(1), "bytes");
}

}  // namespace
}  // namespace heistd
