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

/// Room for four jobs with ten bytes each.
constexpr JournalBounds room_for_four{.finished_bytes = 4 * (finished_record_bytes + 10)};

TYPED_TEST(JournalBoundsTest, bounds_when_dead_jobs_are_older_than_others_then_the_others_go) {
  this->open(room_for_four);
  for (int number = 1; number <= 6; ++number) {
    this->submit(new_job(number, "ten bytes."));
    this->now += milliseconds(1);
    number <= 2 ? this->kill(number) : this->complete(number, "ten bytes.");
  }
  EXPECT_EQ(this->state(1), StoredState::dead);
  EXPECT_EQ(this->payload(1), "ten bytes.");
  EXPECT_TRUE(this->knows(2));
  EXPECT_FALSE(this->knows(3));
  EXPECT_FALSE(this->knows(4));
  EXPECT_TRUE(this->knows(5));
  EXPECT_TRUE(this->knows(6));
}

TYPED_TEST(JournalBoundsTest,
           bounds_when_dead_jobs_have_more_than_half_then_the_oldest_of_them_go) {
  this->open(room_for_four);
  for (int number = 1; number <= 6; ++number) {
    this->submit(new_job(number, "ten bytes."));
    this->now += milliseconds(1);
    number > 1 && number < 6 ? this->kill(number) : this->complete(number, "ten bytes.");
  }
  EXPECT_TRUE(this->knows(1));
  EXPECT_FALSE(this->knows(2));
  EXPECT_FALSE(this->knows(3));
  EXPECT_TRUE(this->knows(4));
  EXPECT_TRUE(this->knows(5));
  EXPECT_TRUE(this->knows(6));
}

TYPED_TEST(JournalBoundsTest, bounds_when_the_newest_is_too_large_then_a_dead_job_goes_before_it) {
  this->open({.finished_bytes = 10 * finished_record_bytes});
  this->submit(new_job(1));
  this->kill(1);
  this->submit(new_job(2));
  this->now += milliseconds(1);
  this->complete(2, std::string(20 * finished_record_bytes, 'x'));
  EXPECT_FALSE(this->knows(1));
  EXPECT_TRUE(this->knows(2));
}

TYPED_TEST(JournalBoundsTest, bounds_when_the_newest_one_is_dead_then_it_stays) {
  this->open({.finished_bytes = 1});
  for (const int number : {1, 2}) {
    this->submit(new_job(number));
    this->now += milliseconds(1);
    number == 1 ? this->complete(number) : this->kill(number);
  }
  EXPECT_FALSE(this->knows(1));
  EXPECT_EQ(this->payload(2), "bytes");
}

TYPED_TEST(JournalBoundsTest, bounds_when_dead_jobs_are_too_old_then_they_go_with_the_next_end) {
  this->open({.finished_age = std::chrono::seconds(10)});
  this->submit(new_job(1));
  this->submit(new_job(2));
  this->kill(1);
  this->now += milliseconds(10001);
  this->complete(2);
  EXPECT_FALSE(this->knows(1));
  EXPECT_TRUE(this->knows(2));
}

TYPED_TEST(JournalBoundsTest, trim_when_jobs_are_too_old_then_they_go_though_none_ends) {
  this->open({.finished_age = std::chrono::seconds(10)});
  this->submit(new_job(1));
  this->submit(new_job(2));
  this->submit(new_job(3));
  this->complete(1);
  this->kill(2);
  this->now += std::chrono::seconds(10);
  EXPECT_EQ(said(this->journal->trim()), 0U);
  EXPECT_TRUE(this->knows(1));
  this->now += milliseconds(1);
  EXPECT_EQ(said(this->journal->trim()), 2U);
  EXPECT_FALSE(this->knows(1));
  EXPECT_FALSE(this->knows(2));
  EXPECT_TRUE(this->knows(3));
}

}  // namespace
}  // namespace heistd
