// How long finished jobs stay: days are dropped whole.
#include <gmock/gmock.h>

#include "postgresql/shared_queue.hpp"

namespace heistd {
namespace {

constexpr std::chrono::hours day{24};
constexpr std::chrono::hours week = 7 * day;
constexpr std::chrono::minutes until_it_is_tried_again{10};

class PostgresDays : public SharedQueue {
 protected:
  void submit_and_complete(int number) {
    submit(number);
    EXPECT_EQ(two.claim_ids(1), std::vector{id_of(number)});
    complete(two, number);
  }
  bool is_there(int number) { return said(one.journal.find(id_of(number))).has_value(); }
  static std::string count(const std::string& rows) {
    return run_sql("SELECT count(*) FROM heistd." + rows);
  }
  void forget(std::chrono::milliseconds age = week) const {
    const auto clock = std::to_string(now.time_since_epoch() / std::chrono::seconds(1));
    server.run("SELECT forget_old(" + std::to_string(age.count()) + ", 100, to_timestamp(" + clock +
               "))");
  }

  ServerByHand server;
};

TEST_F(PostgresDays, forget_when_all_jobs_of_a_day_ended_long_ago_then_it_is_gone) {
  submit_and_complete(1);
  now += week;
  forget();
  EXPECT_TRUE(is_there(1));
  now += day;
  forget();
  EXPECT_FALSE(is_there(1));
  EXPECT_EQ(count("day"), "0");
  submit_and_complete(2);
  EXPECT_TRUE(is_there(2));
}

TEST_F(PostgresDays, forget_when_jobs_are_kept_for_less_than_a_day_then_they_stay_for_a_day) {
  submit_and_complete(1);
  now += day;
  forget(milliseconds(1));
  EXPECT_TRUE(is_there(1));
  now += day;
  forget(milliseconds(1));
  EXPECT_FALSE(is_there(1));
}

TEST_F(PostgresDays,
       forget_when_a_job_of_an_old_day_has_ended_late_then_its_time_counts_from_that) {
  submit_and_complete(1);
  submit(2);
  now += 30 * day;
  forget();
  EXPECT_EQ(two.claim_ids(1), std::vector{id_of(2)});
  complete(two, 2);
  now += week - day;
  forget();
  EXPECT_TRUE(is_there(1));
  EXPECT_TRUE(is_there(2));
  now += day;
  forget();
  EXPECT_FALSE(is_there(1));
  EXPECT_FALSE(is_there(2));
}

TEST_F(PostgresDays, forget_when_a_dead_job_was_queued_again_then_its_last_end_counts) {
  submit(1);
  EXPECT_EQ(two.claim_ids(1), std::vector{id_of(1)});
  EXPECT_EQ(said(two.journal.fail(id_of(1), 1, {}, milliseconds(0))), Effect::stored);
  now += 2 * day;
  forget();  // which notes when it ended
  EXPECT_EQ(said(one.journal.requeue(id_of(1))), Effect::stored);
  now += week;
  EXPECT_EQ(two.claim_ids(1), std::vector{id_of(1)});
  complete(two, 1, 2);
  forget();
  EXPECT_TRUE(is_there(1));
}

TEST_F(PostgresDays, forget_while_a_dead_job_is_being_queued_again_then_nothing_is_dropped) {
  submit(1);
  EXPECT_EQ(two.claim_ids(1), std::vector{id_of(1)});
  EXPECT_EQ(said(two.journal.fail(id_of(1), 1, {}, milliseconds(0))), Effect::stored);
  now += 8 * day;
  const OpenSession other;
  EXPECT_EQ(
      other.run("SET search_path = heistd; BEGIN; SELECT requeue('" + id_of(1) + "', false, NULL)"),
      "t");
  forget();
  other.run("COMMIT");
  now += until_it_is_tried_again;
  forget();
  EXPECT_EQ(two.claim_ids(1), std::vector{id_of(1)});
}

TEST_F(PostgresDays, forget_when_somebody_reads_jobs_then_it_gives_up_and_tries_again_later) {
  submit_and_complete(1);
  now += 8 * day;
  const OpenSession reader;
  reader.run("BEGIN; SELECT count(*) FROM heistd.job");
  forget();
  EXPECT_TRUE(is_there(1));
  reader.run("COMMIT");
  forget();
  EXPECT_TRUE(is_there(1));
  now += until_it_is_tried_again;
  forget();
  EXPECT_FALSE(is_there(1));
}

TEST_F(PostgresDays, forget_when_the_first_day_must_stay_then_a_later_one_may_go) {
  submit(1);
  now += day;
  submit(2, heist::TaskPriority::user_blocking);
  EXPECT_EQ(two.claim_ids(1), std::vector{id_of(2)});
  complete(two, 2);
  now += 8 * day;
  forget();
  forget();
  EXPECT_TRUE(is_there(1));
  EXPECT_FALSE(is_there(2));
}

TEST_F(PostgresDays, forget_when_a_day_has_dead_jobs_then_none_of_them_is_listed) {
  submit(1);
  EXPECT_EQ(two.claim_ids(1), std::vector{id_of(1)});
  EXPECT_EQ(said(two.journal.fail(id_of(1), 1, {}, milliseconds(0))), Effect::stored);
  EXPECT_EQ(count("dead"), "1");
  now += 8 * day;
  forget();
  EXPECT_EQ(count("dead"), "0");
}

TEST_F(PostgresDays, forget_when_somebody_has_dropped_a_day_by_hand_then_its_row_goes_too) {
  submit_and_complete(1);
  run_sql(
      "DO $$ BEGIN EXECUTE 'DROP TABLE heistd.job_' || "
      "(SELECT to_char(day, 'YYYYMMDD') FROM heistd.day); END $$");
  now += 8 * day;
  forget();
  EXPECT_EQ(count("day"), "0");
}

TEST_F(PostgresDays, forget_when_the_time_of_a_key_is_over_then_it_is_forgotten) {
  auto job = new_job(1);
  job.key = IdempotencyKey{"key", "digest"};
  submit(std::move(job));
  forget();
  EXPECT_EQ(count("idempotency"), "1");
  now += day;
  forget();
  EXPECT_EQ(count("idempotency"), "0");
}

}  // namespace
}  // namespace heistd
