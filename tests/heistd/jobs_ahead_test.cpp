// Which posted jobs others of their line must not pass.
#include <gtest/gtest.h>

#include <heistd/jobs_ahead.hpp>
#include <memory>
#include <optional>

namespace heistd {
namespace {

using Asking = JobsAhead::Asking;

class JobsAheadTest : public testing::Test {
 protected:
  const std::shared_ptr<JobsAhead> line = std::make_shared<JobsAhead>();
  const std::shared_ptr<JobsAhead> other = std::make_shared<JobsAhead>();
  const JobsAhead::TimePoint now = std::chrono::steady_clock::now();
};

TEST_F(JobsAheadTest, asking_when_its_delay_is_over_then_it_counts) {
  std::optional<Asking> job;
  job.emplace(line, now + std::chrono::hours(1));
  EXPECT_FALSE(line->any_asking(now));
  EXPECT_FALSE(line->none());
  EXPECT_TRUE(line->any_asking(now + std::chrono::hours(1)));
  job.reset();
  EXPECT_FALSE(line->any_asking(now + std::chrono::hours(2)));
  EXPECT_TRUE(line->none());
}

// Rule: JRN-5
TEST_F(JobsAheadTest, resume_then_those_posted_before_count_as_held_until_they_ask) {
  Asking asked(line, now);
  asked.note_asked();
  Asking posted(line, now);
  const Asking delayed(line, now + std::chrono::hours(1));
  EXPECT_FALSE(line->any_held());
  line->note_resume(now);
  const Asking posted_later(line, now);
  EXPECT_TRUE(line->any_held());
  posted.note_asked();
  EXPECT_FALSE(line->any_held());
  EXPECT_TRUE(line->any_asking(now + std::chrono::hours(1)));
  EXPECT_FALSE(line->any_held());
}

// Rule: JRN-5
TEST_F(JobsAheadTest, move_then_it_counts_in_the_other_line_as_it_did_in_this_one) {
  Asking job(line, now);
  line->note_resume(now);
  job.move(other);
  EXPECT_FALSE(line->any_held());
  EXPECT_TRUE(line->none());
  EXPECT_TRUE(other->any_held());
  other->note_resume(now);
  job.note_asked();
  EXPECT_FALSE(other->any_held());
}

TEST_F(JobsAheadTest, held_then_it_counts_until_it_is_posted_anew) {
  std::optional<JobsAhead::Held> job;
  job.emplace(line, now);
  EXPECT_TRUE(line->any_held());
  job->move(other, now);
  EXPECT_TRUE(line->none());
  EXPECT_TRUE(other->any_held());
  job->note_posted(now + std::chrono::seconds(1));
  EXPECT_FALSE(other->any_held());
  EXPECT_FALSE(other->none());
  job->note_held();
  EXPECT_TRUE(other->any_held());
  job.reset();
  EXPECT_TRUE(other->none());
}

// Rule: JRN-5
TEST_F(JobsAheadTest, held_then_it_is_behind_those_of_later_turns_that_were_posted_before_it) {
  const auto second = std::chrono::seconds(1);
  JobsAhead::Held job(line, now);
  EXPECT_FALSE(line->any_behind(now, now)) << "it is the job itself";
  EXPECT_FALSE(line->any_behind(now - second, now - second));
  EXPECT_TRUE(line->any_behind(now + second, now + second));
  job.note_posted(now + 5 * second);
  EXPECT_TRUE(line->any_behind(now + second, now + second));
  EXPECT_FALSE(line->any_behind(now + second, now + 6 * second));
  job.move(other, now + second);
  EXPECT_FALSE(line->any_behind(now + second, now + second));
  EXPECT_FALSE(other->any_behind(now + second, now + second));
  EXPECT_TRUE(other->any_behind(now + 2 * second, now + second));
}

}  // namespace
}  // namespace heistd
