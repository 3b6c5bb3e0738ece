// Signals, idempotency keys, bounds and ranges: what every journal does.
#include "journal_fixture.hpp"

namespace heistd {
namespace {

template <class Implementation>
class JournalNamesTest : public JournalTest<Implementation> {
 protected:
  void submit_to_signal(int number, std::string_view client = "alice") {
    auto job = new_job(number);
    job.client = client;
    job.signal_name = "night";
    job.priority.reset();
    job.signal_priority = heist::TaskPriority::background;
    this->submit(std::move(job));
  }
  std::vector<StoredSignal> signals() { return said(this->journal->signals()); }
  std::vector<std::string> paused() {
    std::vector<std::string> names;
    for (const auto& pause : said(this->journal->pauses())) {
      names.push_back((pause.of == StoredPause::Of::kind ? "kind " : "signal ") + pause.name);
    }
    return names;
  }
  void set_pause(StoredPause::Of of, const std::string& name, bool on) {
    EXPECT_EQ(
        said(this->journal->set_pause({"alice", of, name}, on, heist::TaskPriority::background)),
        Effect::stored);
  }
  JobJournal::Submitted submit_with_key(int number, std::string digest,
                                        std::string client = "alice") {
    auto job = new_job(number);
    job.client = std::move(client);
    job.key = {"key", std::move(digest)};
    return said(this->journal->submit(std::move(job)));
  }
};
TYPED_TEST_SUITE(JournalNamesTest, Journals);

// Rule: JRN-7
TYPED_TEST(JournalNamesTest, set_pause_then_it_is_kept_until_it_is_over_or_its_signal_is_dropped) {
  this->set_pause(StoredPause::Of::kind, "digest", true);
  this->set_pause(StoredPause::Of::signal, "night", true);
  this->set_pause(StoredPause::Of::signal, "night", true);
  EXPECT_EQ(this->paused(), (std::vector<std::string>{"kind digest", "signal night"}));
  ASSERT_EQ(this->signals().size(), 1U);
  EXPECT_TRUE(this->signals()[0].was_put);
  EXPECT_EQ(this->signals()[0].priority, heist::TaskPriority::background);
  this->set_pause(StoredPause::Of::kind, "digest", false);
  EXPECT_EQ(said(this->journal->drop_signal("alice", "night")), Effect::stored);
  EXPECT_TRUE(this->paused().empty());
}

TYPED_TEST(JournalNamesTest, signal_when_a_job_mentions_it_then_it_lives_as_long_as_its_jobs) {
  this->submit_to_signal(1);
  this->submit_to_signal(2);
  ASSERT_EQ(this->signals().size(), 1U);
  EXPECT_EQ(this->signals()[0].name, "night");
  EXPECT_EQ(this->signals()[0].priority, heist::TaskPriority::background);
  EXPECT_FALSE(this->signals()[0].was_put);
  this->complete(1);
  EXPECT_EQ(this->signals().size(), 1U);
  this->abort(2);
  EXPECT_TRUE(this->signals().empty());
}

TYPED_TEST(JournalNamesTest, set_signal_then_it_stays_with_its_priority) {
  this->submit_to_signal(1);
  said(this->journal->set_signal("alice", "night", heist::TaskPriority::user_blocking));
  this->submit_to_signal(2);
  this->abort(1);
  this->abort(2);
  ASSERT_EQ(this->signals().size(), 1U);
  EXPECT_EQ(this->signals()[0].priority, heist::TaskPriority::user_blocking);
  EXPECT_TRUE(this->signals()[0].was_put);
}

TYPED_TEST(JournalNamesTest, drop_signal_then_its_jobs_are_aborted_and_those_of_others_are_not) {
  this->submit_to_signal(1);
  this->submit_to_signal(2);
  this->submit_to_signal(3, "bob");
  this->submit(new_job(4));
  this->complete(2);
  EXPECT_EQ(said(this->journal->drop_signal("alice", "night")), Effect::stored);
  EXPECT_EQ(this->state(1), StoredState::aborted);
  EXPECT_EQ(this->state(2), StoredState::done);
  EXPECT_EQ(this->state(3), StoredState::queued);
  EXPECT_EQ(this->state(4), StoredState::queued);
  ASSERT_EQ(this->signals().size(), 1U);
  EXPECT_EQ(this->signals()[0].client, "bob");
  EXPECT_EQ(said(this->journal->drop_signal("alice", "night")), Effect::late);
}

TYPED_TEST(JournalNamesTest, requeue_when_the_signal_is_gone_then_it_comes_to_be_again) {
  this->submit_to_signal(1);
  this->kill(1);
  EXPECT_TRUE(this->signals().empty());
  said(this->journal->requeue(id_of(1)));
  EXPECT_EQ(this->signals().size(), 1U);
}

// Rule: JRN-4
TYPED_TEST(JournalNamesTest, key_when_the_same_request_comes_again_then_it_is_the_same_job) {
  EXPECT_EQ(this->submit_with_key(1, "digest").acceptance, Acceptance::accepted);
  const auto again = this->submit_with_key(2, "digest");
  EXPECT_EQ(again.acceptance, Acceptance::repeated);
  EXPECT_EQ(again.id, id_of(1));
  EXPECT_FALSE(this->knows(2));
}

// Rule: JRN-4
TYPED_TEST(JournalNamesTest, key_when_another_request_comes_then_it_is_refused) {
  this->submit_with_key(1, "digest");
  const auto other = this->submit_with_key(2, "other");
  EXPECT_EQ(other.acceptance, Acceptance::conflicting);
  EXPECT_EQ(other.id, id_of(1));
  EXPECT_FALSE(this->knows(2));
}

TYPED_TEST(JournalNamesTest, key_when_another_client_has_it_then_it_is_another_key) {
  this->submit_with_key(1, "digest");
  EXPECT_EQ(this->submit_with_key(2, "other", "bob").acceptance, Acceptance::accepted);
}

// Rule: JRN-4
TYPED_TEST(JournalNamesTest, key_when_the_job_is_done_then_it_stands_for_it_for_a_day) {
  this->submit_with_key(1, "digest");
  this->complete(1);
  said(this->journal->purge(id_of(1)));
  this->now += idempotency_life - milliseconds(1);
  EXPECT_EQ(this->submit_with_key(2, "digest").acceptance, Acceptance::repeated);
  this->now += milliseconds(1);
  EXPECT_EQ(this->submit_with_key(3, "digest").acceptance, Acceptance::accepted);
}

// Rule: JRN-4
TYPED_TEST(JournalNamesTest, key_when_the_job_is_aborted_or_dead_then_it_is_free) {
  this->submit_with_key(1, "digest");
  this->abort(1);
  EXPECT_EQ(this->submit_with_key(2, "digest").acceptance, Acceptance::accepted);
  this->kill(2);
  EXPECT_EQ(this->submit_with_key(3, "other").acceptance, Acceptance::accepted);
}

// Rule: JRN-4
TYPED_TEST(JournalNamesTest, key_when_a_dead_job_is_queued_again_then_it_stands_for_it_for_a_day) {
  this->submit_with_key(1, "digest");
  this->kill(1);
  this->now += idempotency_life;
  said(this->journal->requeue(id_of(1)));
  this->now += idempotency_life - milliseconds(1);
  EXPECT_EQ(this->submit_with_key(2, "digest").id, id_of(1));
  EXPECT_EQ(this->submit_with_key(2, "other").acceptance, Acceptance::conflicting);
  this->now += milliseconds(1);
  EXPECT_EQ(this->submit_with_key(3, "other").acceptance, Acceptance::accepted);
}

// Rule: JRN-4
TYPED_TEST(JournalNamesTest,
           key_when_another_job_has_that_of_one_that_is_queued_again_then_it_keeps_it) {
  this->submit_with_key(1, "digest");
  this->kill(1);
  this->submit_with_key(2, "digest");
  said(this->journal->requeue(id_of(1)));
  EXPECT_EQ(this->submit_with_key(3, "digest").id, id_of(2));
  this->now += idempotency_life;
  this->kill(1);
  said(this->journal->requeue(id_of(1)));  // the other one's time is over
  EXPECT_EQ(this->submit_with_key(3, "digest").id, id_of(1));
}

// Rule: JRN-4
TYPED_TEST(JournalNamesTest, key_when_the_job_has_failed_then_it_stands_for_it_even_if_forgotten) {
  this->submit_with_key(1, "digest");
  said(this->journal->fail(id_of(1), this->start(1), {"bad_pattern", "No."}, std::nullopt));
  EXPECT_EQ(this->submit_with_key(2, "digest").id, id_of(1));
  said(this->journal->purge(id_of(1)));
  EXPECT_EQ(this->submit_with_key(3, "digest").id, id_of(1));
}

TYPED_TEST(JournalNamesTest, key_when_an_old_job_with_it_ends_then_the_newer_one_keeps_it) {
  this->submit_with_key(1, "digest");
  this->now += idempotency_life;
  this->submit_with_key(2, "digest");
  this->abort(1);
  EXPECT_EQ(this->submit_with_key(3, "digest").id, id_of(2));
}

/// Bytes that differ at each place of a few hundred KiB, in blocks of several sizes.
std::string long_bytes() {
  std::string bytes;
  for (int number = 0; bytes.size() < 400'000; ++number) bytes += std::to_string(number) + ",";
  return bytes;
}
SharedBlocks uneven(std::string_view bytes) {
  Blocks blocks;
  for (std::size_t size = 1; !bytes.empty(); size = size * 3 + 1) {
    blocks.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(blocks.back().size());
  }
  return std::make_shared<const Blocks>(std::move(blocks));
}

TYPED_TEST(JournalNamesTest, read_when_a_range_is_asked_for_then_these_bytes_come) {
  const auto bytes = long_bytes();
  auto job = new_job(1);
  job.payload = uneven(bytes);
  this->submit(job);
  EXPECT_EQ(this->find(1).payload_bytes, bytes.size());
  constexpr std::uint64_t piece = std::uint64_t{128} << 10U;
  for (const auto& range :
       {ByteRange{0, bytes.size()}, ByteRange{0, 1}, ByteRange{piece - 1, 2}, ByteRange{piece, 5},
        ByteRange{7, 2 * piece}, ByteRange{bytes.size() - 3, 100}}) {
    EXPECT_EQ(this->payload(1, range), bytes.substr(range.offset, range.size)) << range.offset;
  }
  EXPECT_EQ(this->payload(1, {bytes.size(), 10}), "");
  EXPECT_EQ(this->payload(1, {10 * bytes.size(), 10}), "");
  EXPECT_EQ(this->payload(1, {5, 0}), "");
  const auto attempt = this->start(1);
  said(this->journal->complete(id_of(1), attempt, {"", uneven(bytes)}));
  EXPECT_EQ(this->result(1, {piece - 1, 2}), bytes.substr(piece - 1, 2));
}

}  // namespace
}  // namespace heistd
