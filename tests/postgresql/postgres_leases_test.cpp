// Servers that end, are stopped or cut off, and what becomes of their jobs.
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include "postgresql/shared_queue.hpp"

namespace heistd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr milliseconds short_lease{400};

class PostgresLeases : public SharedQueue {
 protected:
  static void await(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << "it does not become true";
      std::this_thread::yield();
    }
  }
  std::vector<JobId> await_claim(QueueServer& server) {
    std::vector<JobId> claimed;
    await([&] { return !(claimed = server.claim_ids(9)).empty(); });
    return claimed;
  }
  /// It comes on the connection of hints, after those that were given before. Two renewals, as the
  /// second one comes after the answer to the first.
  static void await_answer_to_renewal(const std::string& name) {
    for (int time = 0; time < 2; ++time) {
      const auto query = "SELECT lease_until FROM heistd.node WHERE name = '" + name + "'";
      const auto before = run_sql(query);
      await([&] { return run_sql(query) != before; });
    }
  }
  std::unique_ptr<QueueServer> start(const char* name) {
    return std::make_unique<QueueServer>(name, [this] { return now; });
  }
};

TEST_F(PostgresLeases,
       lease_when_it_has_lapsed_then_others_get_the_jobs_and_late_ends_change_nothing) {
  submit_with_two_attempts(1);
  submit(2);
  EXPECT_EQ(two.claim(2).size(), 2U);
  let_lapse("two");
  EXPECT_THAT(one.claim_ids(2), ElementsAre(id_of(1)));
  EXPECT_EQ(find(2).state, StoredState::dead);  // that was its only attempt
  EXPECT_EQ(find(2).error->code, "attempt_lost");
  EXPECT_EQ(said(two.journal.complete(id_of(1), 1, {})), Effect::late);
  complete(one, 1, 2);
  EXPECT_EQ(find(1).attempt, 2U);
}

TEST_F(PostgresLeases,
       lease_when_it_has_lapsed_then_the_server_loses_its_jobs_and_their_attempts_count) {
  submit_with_two_attempts(1);
  EXPECT_THAT(two.claim(2), SizeIs(1));
  let_lapse("two");
  EXPECT_THAT(two.wait_for_loss(), ElementsAre(id_of(1)));
  EXPECT_THAT(await_claim(two), ElementsAre(id_of(1)));
  EXPECT_EQ(find(1).attempt, 2U);
  EXPECT_EQ(find(1).forgiven, 0U);
}

TEST_F(PostgresLeases, lease_when_only_the_server_takes_it_for_lapsed_then_nothing_is_given_back) {
  QueueServer cut_off("cut off", [this] { return now; }, short_lease);
  submit_with_two_attempts(1);
  EXPECT_THAT(cut_off.claim(1), SizeIs(1));
  const OpenSession other;
  other.run("BEGIN; SELECT 1 FROM heistd.node WHERE name = 'cut off' FOR UPDATE");
  EXPECT_THAT(cut_off.wait_for_loss(), ElementsAre(id_of(1)));
  other.run("COMMIT");
  EXPECT_THAT(await_claim(one), ElementsAre(id_of(1)));
  EXPECT_EQ(find(1).forgiven, 0U);
}

TEST_F(PostgresLeases, server_when_a_job_kills_it_each_time_then_the_job_is_dead) {
  submit_with_two_attempts(1);
  for (int time = 0; time < 2; ++time) {
    EXPECT_THAT(start("killed")->claim_ids(1), ElementsAre(id_of(1)));
    let_lapse("killed");
  }
  EXPECT_THAT(start("killed")->claim_ids(1), IsEmpty());
  EXPECT_EQ(find(1).state, StoredState::dead);
}

TEST_F(PostgresLeases, server_when_another_one_of_its_name_has_a_lease_then_it_gets_no_session) {
  std::optional<ServerByHand> earlier(std::in_place);
  EXPECT_THROW(ServerByHand(), std::runtime_error);
  let_lapse("by hand");
  EXPECT_NO_THROW(ServerByHand());
}

TEST_F(PostgresLeases, server_when_it_is_of_another_version_then_it_gets_no_session) {
  const OpenSession of_version_one;
  EXPECT_THROW(of_version_one.run("SET search_path = heistd; SELECT begin_session('by hand', "
                                  "gen_random_uuid(), 60000)"),
               std::runtime_error);
}

TEST_F(PostgresLeases, session_when_an_earlier_one_has_a_batch_under_way_then_that_is_ended) {
  submit(1);
  const std::string process = "'00000000-0000-0000-0000-000000000001'";
  const ServerByHand earlier(process);
  earlier.begin();
  earlier.run("SELECT abort('" + id_of(1) + "', 'aborted', '', false, NULL)");
  const ServerByHand later(process);
  EXPECT_THROW(earlier.run("COMMIT"), std::runtime_error);
  EXPECT_EQ(find(1).state, StoredState::queued);
}

TEST_F(PostgresLeases, server_when_it_is_stopped_within_a_batch_then_its_jobs_are_reclaimed) {
  submit_with_two_attempts(1);
  const ServerByHand stopped;
  stopped.run("SELECT start('" + id_of(1) + "', 0, false)");
  stopped.begin();
  stopped.run("SELECT fail('" + id_of(1) + "', 1, '', '', 0, false, NULL)");
  let_lapse("by hand");
  EXPECT_THAT(one.claim_ids(1), ElementsAre(id_of(1)));
  EXPECT_THROW(stopped.run("COMMIT"), std::runtime_error);
  EXPECT_EQ(find(1).error->code, "attempt_lost");
}

TEST_F(PostgresLeases, lease_when_a_batch_takes_longer_than_that_then_it_is_renewed) {
  QueueServer busy("busy", [this] { return now; }, short_lease);
  submit(1);
  EXPECT_THAT(busy.claim(1), SizeIs(1));
  const OpenSession other;
  other.run("BEGIN; SELECT 1 FROM heistd.open FOR UPDATE");
  const auto aborted = busy.journal.abort(id_of(1), {});
  const auto begun = run_sql("SELECT clock_timestamp()");
  await([&] {
    return run_sql("SELECT lease_until > '" + begun +
                   "'::timestamptz + interval '1 s' FROM heistd.node WHERE name = 'busy'") == "t";
  });
  EXPECT_THAT(busy.lost, IsEmpty());
  other.run("COMMIT");
  EXPECT_EQ(said(aborted), Effect::stored);
}

TEST_F(PostgresLeases, hint_when_it_is_the_servers_own_then_it_does_not_hear_it) {
  QueueServer telling("telling", [this] { return now; }, milliseconds(1000));
  for (int number = 1; number <= 2; ++number) said(telling.journal.submit(new_job(number)));
  EXPECT_THAT(telling.claim(1), SizeIs(1));
  EXPECT_TRUE(two.wait_for_hint());
  await_answer_to_renewal("telling");
  EXPECT_EQ(telling.hints_until_now(), 0);
}

TEST_F(PostgresLeases, hint_when_claims_bring_nothing_then_many_are_heard_as_few) {
  QueueServer idle("idle", [this] { return now; }, milliseconds(1000));
  EXPECT_THAT(idle.claim(1), IsEmpty());
  run_sql("SELECT pg_notify('heistd', number::text) FROM generate_series(1, 50) number");
  await_answer_to_renewal("idle");
  EXPECT_GE(idle.hints_until_now(), 1);
  EXPECT_LE(idle.hints_until_now(), 10);
}

TEST_F(PostgresLeases, lease_when_the_database_is_slow_to_remove_lanes_then_it_is_renewed) {
  run_sql(
      "CREATE OR REPLACE FUNCTION heistd.remove_unused(most int) RETURNS int LANGUAGE sql AS "
      "'SELECT 0 FROM pg_sleep(60)'");
  const QueueServer renewing("renewing", [this] { return now; }, short_lease);
  await([] {
    return run_sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "1";
  });
  const auto node = run_sql("SELECT node FROM heistd.node WHERE name = 'renewing'");
  const auto begun = run_sql("SELECT clock_timestamp()");
  await([&] {  // the last renewal before that lasts until less
    return run_sql("SELECT lease_until > '" + begun + "'::timestamptz + interval '" +
                   std::to_string(short_lease.count()) +
                   " ms' FROM heistd.node WHERE node = " + node) == "t";
  });
}

TEST_F(PostgresLeases,
       connection_when_it_is_lost_then_claims_stay_and_unknown_ones_are_given_back) {
  submit(1);
  EXPECT_EQ(two.claim(1).size(), 1U);
  // As if the answer to a claim had been lost.
  submit(2);
  run_sql(
      "UPDATE heistd.open SET attempt = 1, node = (SELECT node FROM heistd.node WHERE name = "
      "'two') WHERE node IS NULL");
  run_sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
      "datname = current_database()");
  complete(two, 1);
  EXPECT_THAT(await_claim(one), ElementsAre(id_of(2)));
  EXPECT_EQ(find(2).attempt, 2U);
}

}  // namespace
}  // namespace heistd
