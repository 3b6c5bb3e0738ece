// How long finished jobs stay: days are dropped whole.
#include <gmock/gmock.h>

#include "postgresql/shared_queue.hpp"

namespace heistd {
namespace {

constexpr std::chrono::hours day{24};

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
  void sweep() { said(one.journal.sweep()); }
};

TEST_F(PostgresDays, sweep_when_a_day_is_older_than_its_jobs_are_kept_then_it_is_gone) {
  submit_and_complete(1);
  now += 7 * day;
  sweep();
  EXPECT_TRUE(is_there(1));
  now += day;
  sweep();
  EXPECT_FALSE(is_there(1));
  EXPECT_EQ(count("day"), "0");
  submit_and_complete(2);
  EXPECT_TRUE(is_there(2));
}

TEST_F(PostgresDays, sweep_when_a_job_of_an_old_day_has_not_ended_then_all_of_that_day_stay) {
  submit_and_complete(1);
  submit(2);
  now += 30 * day;
  sweep();
  EXPECT_TRUE(is_there(1));
  EXPECT_EQ(two.claim_ids(1), std::vector{id_of(2)});
  complete(two, 2);
  sweep();
  EXPECT_FALSE(is_there(1));
  EXPECT_FALSE(is_there(2));
}

TEST_F(PostgresDays, sweep_when_somebody_reads_jobs_then_nobody_waits_and_a_later_one_drops) {
  submit_and_complete(1);
  now += 8 * day;
  const OpenSession reader;
  reader.run("BEGIN; SELECT count(*) FROM heistd.job");
  sweep();
  EXPECT_TRUE(is_there(1));
  submit_and_complete(2);
  reader.run("COMMIT");
  sweep();
  EXPECT_FALSE(is_there(1));
  EXPECT_TRUE(is_there(2));
}

TEST_F(PostgresDays, sweep_when_a_day_with_dead_jobs_is_old_then_none_is_listed) {
  submit(1);
  EXPECT_EQ(two.claim_ids(1), std::vector{id_of(1)});
  EXPECT_EQ(said(two.journal.fail(id_of(1), 1, {}, milliseconds(0))), Effect::stored);
  EXPECT_EQ(count("dead"), "1");
  now += 8 * day;
  sweep();
  EXPECT_EQ(count("dead"), "0");
}

TEST_F(PostgresDays, forget_old_when_all_days_have_too_many_bytes_then_the_oldest_but_two_go) {
  for (int number = 1; number <= 4; ++number) {
    submit_and_complete(number);
    now += day;
  }
  now -= day;  // that of the last one
  const ServerByHand server;
  const auto forget = [&](const std::string& bytes) {
    const auto clock = std::to_string(now.time_since_epoch() / std::chrono::seconds(1));
    server.run("SELECT forget_old(1000000000000, " + bytes + ", 100, to_timestamp(" + clock + "))");
  };
  forget("1000000000");
  EXPECT_EQ(count("day"), "4");
  forget("0");
  EXPECT_FALSE(is_there(2));
  EXPECT_TRUE(is_there(3));
  EXPECT_TRUE(is_there(4));
}

TEST_F(PostgresDays, sweep_when_the_time_of_a_key_is_over_then_it_is_forgotten) {
  auto job = new_job(1);
  job.key = IdempotencyKey{"key", "digest"};
  submit(std::move(job));
  sweep();
  EXPECT_EQ(count("idempotency"), "1");
  now += day;
  sweep();
  EXPECT_EQ(count("idempotency"), "0");
}

}  // namespace
}  // namespace heistd
