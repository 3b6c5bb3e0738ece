// What a server hears of the jobs that it has claimed, and how it gives them back.
#include <gmock/gmock.h>

#include "postgresql/shared_queue.hpp"

namespace heistd {
namespace {

using heist::TaskPriority;
using testing::ElementsAre;
using testing::IsEmpty;

class PostgresSharedJobs : public testing::Test {
 protected:
  PostgresSharedJobs() {
    for (auto* const journal : {&one, &two}) said(journal->abort(id_of(0), {}));  // its session is
  }
  void submit(int number, std::chrono::milliseconds ttl = std::chrono::hours(1)) {
    auto job = new_job(number);
    job.ttl = ttl;
    EXPECT_EQ(said(one.submit(std::move(job))).acceptance, Acceptance::accepted);
  }
  static std::size_t claim(PostgresJournal& journal, std::size_t agents = 9) {
    return said(journal.claim({agents, {"alice"}, {"digest"}})).size();
  }
  static StoredState state(PostgresJournal& journal, int number) {
    return said(journal.find(id_of(number))).value().state;
  }
  static std::vector<JobId> lost(PostgresJournal& journal) {
    std::vector<JobId> ids;
    for (const auto& lost : said(journal.look()).lost) ids.push_back(lost.id);
    return ids;
  }

  InPostgres database;
  SystemTime now{std::chrono::hours(24 * 365 * 50)};
  PostgresOnItsThread one{[this] { return now; }, "one"};
  PostgresOnItsThread two{[this] { return now; }, "two"};
};

TEST_F(PostgresSharedJobs, start_when_a_job_was_claimed_then_the_claim_was_the_attempt) {
  submit(1);
  EXPECT_EQ(claim(two), 1U);
  EXPECT_EQ(state(two, 1), StoredState::queued);
  EXPECT_EQ(state(one, 1), StoredState::running);
  const auto started = said(two.start(id_of(1), any_priority));
  ASSERT_TRUE(started);
  EXPECT_EQ(started->attempt, 1U);
  EXPECT_EQ(started->block, "bytes");
  EXPECT_EQ(state(two, 1), StoredState::running);
  EXPECT_EQ(said(two.complete(id_of(1), 1, {})), Effect::stored);
}

TEST_F(PostgresSharedJobs, find_when_the_parameters_are_damaged_then_it_says_so) {
  submit(1);
  OpenSession().run("UPDATE heistd.job SET parameters = 'x'");
  const auto found = one.find(id_of(1)).get();
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().fault, JournalFault::corrupt);
}

TEST_F(PostgresSharedJobs, look_when_another_server_aborts_a_job_then_it_is_lost_once) {
  submit(1);
  submit(2);
  EXPECT_EQ(claim(two), 2U);
  EXPECT_THAT(lost(two), IsEmpty());
  said(one.abort(id_of(1), aborted_because("a test")));
  EXPECT_THAT(lost(two), ElementsAre(id_of(1)));
  EXPECT_THAT(lost(two), IsEmpty());
  EXPECT_FALSE(said(two.start(id_of(1), any_priority)));
  EXPECT_EQ(claim(two, 1), 0U);  // the other one has its agent
}

TEST_F(PostgresSharedJobs, abort_when_a_claimed_job_has_not_started_then_find_says_so) {
  submit(1);
  EXPECT_EQ(claim(two), 1U);
  said(two.abort(id_of(1), aborted_because("a test")));
  EXPECT_EQ(state(two, 1), StoredState::aborted);
  EXPECT_FALSE(said(two.start(id_of(1), any_priority)));
}

TEST_F(PostgresSharedJobs, look_when_another_server_sets_a_priority_then_it_says_so) {
  submit(1);
  EXPECT_EQ(claim(two), 1U);
  said(one.set_priority(id_of(1), TaskPriority::user_blocking));
  const auto seen = said(two.look());
  ASSERT_EQ(seen.held.size(), 1U);
  EXPECT_EQ(seen.held[0].id, id_of(1));
  EXPECT_EQ(seen.held[0].priority, TaskPriority::user_blocking);
}

TEST_F(PostgresSharedJobs, stop_claims_then_what_was_not_started_goes_back_and_nothing_comes) {
  submit(1);
  submit(2);
  EXPECT_EQ(claim(two), 2U);
  EXPECT_TRUE(said(two.start(id_of(1), any_priority)));
  two.stop_claims();
  said(two.flush());
  EXPECT_EQ(state(one, 1), StoredState::running);
  EXPECT_EQ(state(one, 2), StoredState::queued);
  EXPECT_EQ(claim(two), 0U);
  EXPECT_EQ(claim(one), 1U);
}

TEST_F(PostgresSharedJobs, ended_of_then_those_that_have_ended_or_are_gone) {
  for (int number = 1; number <= 3; ++number) submit(number);
  said(one.abort(id_of(1), {}));
  said(one.abort(id_of(2), {}));
  said(one.purge(id_of(2)));
  EXPECT_THAT(said(two.ended_of({id_of(1), id_of(2), id_of(3)})),
              testing::UnorderedElementsAre(id_of(1), id_of(2)));
}

TEST_F(PostgresSharedJobs, expire_some_then_late_jobs_are_aborted_unless_claimed) {
  submit(1, milliseconds(10));
  EXPECT_EQ(claim(two), 1U);
  submit(2, milliseconds(10));
  submit(3);
  now += milliseconds(10);
  said(one.set_pause({"alice", StoredPause::Of::kind, "digest"}, true, TaskPriority::background));
  const auto pauses = said(two.expire_some());
  ASSERT_EQ(pauses.size(), 1U);
  EXPECT_EQ(pauses[0].name, "digest");
  const auto late = said(one.find(id_of(2))).value();
  EXPECT_EQ(late.error.value_or(StoredError()).code, "expired");
  EXPECT_EQ(state(one, 1), StoredState::running);
  EXPECT_EQ(state(one, 3), StoredState::queued);
}

// Rule: JRN-6
TEST_F(PostgresSharedJobs, release_when_a_claimed_job_had_not_started_then_it_keeps_its_ttl) {
  for (int number = 1; number <= 3; ++number) submit(number, milliseconds(10));
  EXPECT_EQ(claim(two), 3U);
  EXPECT_TRUE(said(two.start(id_of(1), any_priority)));
  for (int number = 1; number <= 2; ++number) {
    EXPECT_EQ(said(two.release(id_of(number), 1)), Effect::stored);
  }
  two.stop_claims();
  said(two.flush());
  now += milliseconds(10);
  said(one.expire_some());
  EXPECT_EQ(state(one, 1), StoredState::queued);  // it was in time
  EXPECT_EQ(state(one, 2), StoredState::aborted);
  EXPECT_EQ(state(one, 3), StoredState::aborted);
}

// Rule: JRN-6
TEST_F(PostgresSharedJobs, fail_when_a_job_with_a_ttl_has_an_attempt_left_then_it_has_none) {
  auto job = new_job(1);
  job.ttl = milliseconds(10);
  job.max_attempts = 2;
  EXPECT_EQ(said(one.submit(std::move(job))).acceptance, Acceptance::accepted);
  EXPECT_EQ(claim(two), 1U);
  EXPECT_FALSE(said(one.find(id_of(1))).value().ttl);
  EXPECT_EQ(said(two.fail(id_of(1), 1, {}, milliseconds(0))), Effect::stored);
  now += milliseconds(10);
  said(one.expire_some());
  EXPECT_EQ(state(one, 1), StoredState::queued);
}

TEST_F(PostgresSharedJobs, expire_some_when_a_claim_of_a_late_job_is_under_way_then_it_stays) {
  submit(1, milliseconds(10));
  const ServerByHand other;
  other.begin();
  EXPECT_EQ(other.run("SELECT count(*) FROM start('" + id_of(1) + "', 0, false)"), "1");
  now += milliseconds(10);
  const auto expired = one.expire_some();
  const auto waits_for_other = [] {
    return run_sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == "1";
  };
  while (!expired.wait_for(milliseconds(10)) && !waits_for_other()) continue;
  other.run("COMMIT");
  said(expired);
  EXPECT_EQ(state(one, 1), StoredState::running);
}

TEST_F(PostgresSharedJobs, renewal_when_unused_lanes_are_removed_then_not_in_its_transaction) {
  run_sql(
      "SET search_path = heistd; CREATE TABLE seen(what text, number xid8); CREATE FUNCTION "
      "note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO heistd.seen VALUES "
      "(TG_TABLE_NAME, pg_current_xact_id()); RETURN NULL; END $$; CREATE TRIGGER noted AFTER "
      "UPDATE ON node FOR EACH STATEMENT EXECUTE FUNCTION note(); CREATE TRIGGER noted AFTER "
      "DELETE ON lane FOR EACH STATEMENT EXECUTE FUNCTION note(); INSERT INTO lane(client, kind, "
      "priority) SELECT convert_to(number::text, 'UTF8'), 'digest', 1 FROM "
      "generate_series(1, 101) number");
  const QueueServer renewing("three", [this] { return now; }, milliseconds(600));
  const auto count = [](const std::string& what) {
    return std::stoi(run_sql("SELECT count(*) FROM heistd.seen WHERE what = '" + what + "'"));
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (count("lane") == 0) ASSERT_LT(std::chrono::steady_clock::now(), end);
  EXPECT_EQ(run_sql("SELECT count(*) FROM heistd.seen renewed JOIN heistd.seen removed USING "
                    "(number) WHERE renewed.what = 'node' AND removed.what = 'lane'"),
            "0");
}

}  // namespace
}  // namespace heistd
