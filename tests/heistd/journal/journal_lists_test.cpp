// What every journal lists.
#include <gmock/gmock.h>

#include "journal_fixture.hpp"

namespace heistd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <class Implementation>
class JournalListsTest : public JournalTest<Implementation> {
 protected:
  JobPage<StoredJob> list(JobQuery query = {}, const std::string& client = "alice") {
    return said(this->journal->list(client, std::move(query)));
  }
  std::vector<JobId> listed(JobQuery query = {}, const std::string& client = "alice") {
    std::vector<JobId> found;
    for (const auto& job : list(std::move(query), client).jobs) found.push_back(job.id);
    return found;
  }
};
TYPED_TEST_SUITE(JournalListsTest, Journals);

TYPED_TEST(JournalListsTest, list_then_a_client_s_jobs_come_in_the_order_of_acceptance) {
  for (const int number : {5, 3, 8}) this->submit(new_job(number));
  auto other = new_job(1);
  other.client = "bob";
  this->submit(std::move(other));
  this->complete(3);
  EXPECT_THAT(this->listed(), ElementsAre(id_of(5), id_of(3), id_of(8)));
  EXPECT_THAT(this->listed({}, "bob"), ElementsAre(id_of(1)));
  EXPECT_THAT(this->listed({}, "carol"), IsEmpty());
}

TYPED_TEST(JournalListsTest, list_when_a_state_is_asked_for_then_no_other_comes) {
  for (int number = 1; number <= 6; ++number) this->submit(new_job(number));
  auto later = new_job(7);
  later.delay = milliseconds(1000);
  this->submit(std::move(later));
  this->start(2);
  this->complete(3);
  const auto attempt = this->start(4);
  said(this->journal->fail(id_of(4), attempt, {"broken", "It broke."}, std::nullopt));
  this->abort(5);
  this->kill(6);
  const auto in = [this](JobState state) { return this->listed({.state = state}); };
  EXPECT_THAT(in(JobState::queued), ElementsAre(id_of(1)));
  EXPECT_THAT(in(JobState::running), ElementsAre(id_of(2)));
  EXPECT_THAT(in(JobState::done), ElementsAre(id_of(3)));
  EXPECT_THAT(in(JobState::failed), ElementsAre(id_of(4)));
  EXPECT_THAT(in(JobState::aborted), ElementsAre(id_of(5)));
  EXPECT_THAT(in(JobState::dead), ElementsAre(id_of(6)));
  EXPECT_THAT(in(JobState::delayed), ElementsAre(id_of(7)));
  std::vector<StoredState> loaded;
  for (const auto& job : said(this->journal->load_unfinished(0, 10))) {
    loaded.push_back(job.state);
  }
  EXPECT_THAT(loaded, ElementsAre(StoredState::queued, StoredState::running, StoredState::queued));
  this->now += milliseconds(1000);
  EXPECT_THAT(in(JobState::queued), ElementsAre(id_of(1), id_of(7)));
}

TYPED_TEST(JournalListsTest, list_when_a_kind_or_a_signal_is_asked_for_then_no_other_comes) {
  for (int number = 1; number <= 3; ++number) {
    auto job = new_job(number);
    if (number >= 2) job.signal_name = "night";
    if (number == 3) job.kind = "search";
    this->submit(std::move(job));
  }
  this->kill(2);
  EXPECT_THAT(this->listed({.signal_name = "night"}), ElementsAre(id_of(2), id_of(3)));
  EXPECT_THAT(this->listed({.kind = "digest"}), ElementsAre(id_of(1), id_of(2)));
  EXPECT_THAT(this->listed({.state = JobState::dead, .kind = "digest"}), ElementsAre(id_of(2)));
  EXPECT_THAT(this->listed({.state = JobState::dead, .kind = "search"}), IsEmpty());
}

TYPED_TEST(JournalListsTest, list_when_longer_than_asked_for_then_the_next_part_goes_on) {
  for (int number = 1; number <= 5; ++number) this->submit(new_job(number));
  auto part = this->list({.most = 2});
  ASSERT_EQ(part.jobs.size(), 2U);
  ASSERT_TRUE(part.last.has_value());
  this->complete(2);
  said(this->journal->purge(id_of(2)));
  EXPECT_THAT(this->listed({.after = *part.last, .most = 2}), ElementsAre(id_of(3), id_of(4)));
  part = this->list({.after = this->find(3).order, .most = 2});
  EXPECT_EQ(part.jobs.size(), 2U);
  EXPECT_FALSE(part.last.has_value());
}

template <class Implementation>
class LastingListsTest : public JournalListsTest<Implementation> {};
TYPED_TEST_SUITE(LastingListsTest, LastingJournals);

TYPED_TEST(LastingListsTest, list_when_few_of_many_are_asked_for_then_a_part_looks_at_some) {
  std::vector<JobJournal::Answer<JobJournal::Submitted>> answers;
  for (std::size_t number = 1; number <= most_looked_at + 1; ++number) {
    auto job = new_job(static_cast<int>(number));
    if (number > most_looked_at) job.kind = "search";
    answers.push_back(this->journal->submit(std::move(job)));
  }
  for (const auto& answer : answers) said(answer);
  const auto part = this->list({.kind = "search"});
  EXPECT_THAT(part.jobs, IsEmpty());
  EXPECT_EQ(part.last, this->find(static_cast<int>(most_looked_at)).order);
  EXPECT_EQ(this->listed({.kind = "search", .after = *part.last}).size(), 1U);
}

}  // namespace
}  // namespace heistd
