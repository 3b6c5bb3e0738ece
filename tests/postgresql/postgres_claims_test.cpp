// What servers claim that share a database.
#include <gmock/gmock.h>

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "heistd/journal/journal_fixture.hpp"

namespace heistd {
namespace {

using heist::TaskPriority;
using testing::ElementsAre;
using testing::IsEmpty;

/// A server that keeps what it has lost.
struct Server {
  explicit Server(std::string name, JournalClock clock)
      : journal(std::move(clock), std::move(name), [this](const std::vector<JobId>& ids) {
          const std::lock_guard lock(mutex);
          lost.insert(lost.end(), ids.begin(), ids.end());
          changed.notify_all();
        }) {
    said(journal.abort(id_of(0), {}));  // its session has begun when that is answered
  }

  std::vector<ClaimedJob> claim(std::size_t agents, std::vector<std::string> kinds = {"digest"}) {
    return said(journal.claim({agents, std::move(kinds)}));
  }
  std::vector<JobId> claim_ids(std::size_t agents, std::vector<std::string> kinds = {"digest"}) {
    std::vector<JobId> ids;
    for (const auto& claimed : claim(agents, std::move(kinds))) ids.push_back(claimed.job.id);
    return ids;
  }
  std::vector<JobId> wait_for_loss() {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::seconds(20), [this] { return !lost.empty(); });
    return lost;
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<JobId> lost;
  PostgresOnItsThread journal;
};

class PostgresClaims : public testing::Test {
 protected:
  void submit(int number, TaskPriority priority = TaskPriority::user_visible,
              const std::string& kind = "digest") {
    auto job = new_job(number);
    job.priority = priority;
    job.kind = kind;
    submit(std::move(job));
  }
  void submit_to_signal(int number) {
    auto job = new_job(number);
    job.signal_name = "night";
    job.priority.reset();
    job.signal_priority = TaskPriority::background;
    submit(std::move(job));
  }
  void submit(NewJob job) {
    EXPECT_EQ(said(one.journal.submit(std::move(job))).acceptance, Acceptance::accepted);
  }
  static void complete(Server& server, int number, Attempt attempt = 1) {
    EXPECT_EQ(said(server.journal.complete(id_of(number), attempt, {})), Effect::stored);
  }
  StoredJob find(int number) { return said(one.journal.find(id_of(number))).value(); }
  /// As if the server had not renewed its lease in time.
  static void let_lapse(const char* name) {
    run_sql(std::string("UPDATE heistd.node SET lease_until = clock_timestamp() WHERE name = '") +
            name + "'");
  }

  InPostgres database;
  SystemTime now{std::chrono::hours(24 * 365 * 50)};
  Server one{"one", [this] { return now; }};
  Server two{"two", [this] { return now; }};
};

TEST_F(PostgresClaims, claim_then_the_most_urgent_come_first_and_of_these_the_oldest) {
  submit(1, TaskPriority::background);
  submit(2);
  submit(3, TaskPriority::user_blocking);
  submit(4);
  auto other = new_job(5);
  other.client = "bob";
  other.priority = TaskPriority::user_blocking;
  submit(std::move(other));
  EXPECT_THAT(two.claim_ids(3), ElementsAre(id_of(3), id_of(5), id_of(2)));
  EXPECT_THAT(one.claim_ids(9), ElementsAre(id_of(4), id_of(1)));
}

TEST_F(PostgresClaims, claim_then_the_job_runs_and_comes_with_all_that_it_is) {
  auto job = new_job(1, "some bytes");
  job.parameters = {{"pattern", "a"}};
  job.max_attempts = 3;
  submit(std::move(job));
  const auto claimed = two.claim(1);
  ASSERT_EQ(claimed.size(), 1U);
  EXPECT_EQ(claimed[0].block, "some bytes");
  EXPECT_EQ(claimed[0].job.client, "alice");
  EXPECT_EQ(claimed[0].job.parameters, (JobParameters{{"pattern", "a"}}));
  EXPECT_EQ(claimed[0].job.attempt, 1U);
  EXPECT_EQ(find(1).state, StoredState::running);
  complete(two, 1);
  EXPECT_EQ(find(1).state, StoredState::done);
}

TEST_F(PostgresClaims, claim_when_all_agents_have_lower_jobs_then_more_urgent_ones_come_still) {
  for (int number = 1; number <= 3; ++number) submit(number, TaskPriority::background);
  EXPECT_EQ(two.claim(2).size(), 2U);
  submit(4);
  submit(5, TaskPriority::user_blocking);
  submit(6, TaskPriority::user_blocking);
  EXPECT_THAT(two.claim_ids(2), ElementsAre(id_of(5), id_of(6)));
  EXPECT_THAT(two.claim_ids(2), IsEmpty());
  complete(two, 5);
  EXPECT_THAT(two.claim_ids(2), ElementsAre(id_of(4)));
}

TEST_F(PostgresClaims, claim_when_a_signal_has_another_priority_then_all_its_jobs_have) {
  submit(1);
  for (int number = 2; number <= 4; ++number) submit_to_signal(number);
  EXPECT_THAT(two.claim_ids(1), ElementsAre(id_of(1)));
  said(one.journal.set_signal("alice", "night", TaskPriority::user_blocking));
  submit(5);
  EXPECT_THAT(two.claim_ids(3), ElementsAre(id_of(2), id_of(3), id_of(4)));
}

TEST_F(PostgresClaims, claim_when_a_job_got_another_priority_then_it_comes_with_that) {
  for (int number = 1; number <= 3; ++number) submit(number);
  said(one.journal.set_priority(id_of(3), TaskPriority::user_blocking));
  EXPECT_THAT(two.claim_ids(2), ElementsAre(id_of(3), id_of(1)));
}

TEST_F(PostgresClaims, claim_when_a_kind_or_a_signal_is_paused_or_not_known_then_none_of_it_comes) {
  submit(1);
  submit_to_signal(2);
  submit(3, TaskPriority::user_visible, "search");
  EXPECT_THAT(two.claim_ids(9, {"none"}), IsEmpty());
  const auto pause = [this](StoredPause::Of of, const std::string& name, bool on) {
    said(one.journal.set_pause({"alice", of, name}, on, TaskPriority::background));
  };
  pause(StoredPause::Of::kind, "digest", true);
  pause(StoredPause::Of::signal, "night", true);
  EXPECT_THAT(two.claim_ids(1, {"digest", "search"}), ElementsAre(id_of(3)));
  pause(StoredPause::Of::kind, "digest", false);
  EXPECT_THAT(two.claim_ids(9), ElementsAre(id_of(1)));
  pause(StoredPause::Of::signal, "night", false);
  EXPECT_THAT(two.claim_ids(9), ElementsAre(id_of(2)));
}

TEST_F(PostgresClaims, claim_when_a_job_was_given_back_then_it_comes_in_its_old_place) {
  for (int number = 1; number <= 3; ++number) submit(number);
  EXPECT_THAT(two.claim_ids(2), ElementsAre(id_of(1), id_of(2)));
  said(two.journal.release(id_of(1), 1));
  EXPECT_THAT(one.claim_ids(2), ElementsAre(id_of(1), id_of(3)));
  EXPECT_EQ(find(1).attempt, 2U);
  EXPECT_EQ(find(1).forgiven, 1U);
}

TEST_F(PostgresClaims, claim_when_a_delay_is_over_then_the_job_has_its_turn) {
  auto job = new_job(1);
  job.delay = milliseconds(100);
  submit(std::move(job));
  job = new_job(2);
  job.ttl = milliseconds(50);
  submit(std::move(job));
  EXPECT_THAT(two.claim_ids(1, {"none"}), IsEmpty());
  now += milliseconds(100);
  EXPECT_THAT(two.claim_ids(9), ElementsAre(id_of(1)));  // the other one has expired
}

TEST_F(PostgresClaims, claim_when_a_predecessor_is_done_then_its_follower_comes) {
  submit(1);
  auto job = new_job(2);
  job.after = id_of(1);
  submit(std::move(job));
  EXPECT_THAT(two.claim_ids(9), ElementsAre(id_of(1)));
  EXPECT_THAT(one.claim_ids(9), IsEmpty());
  complete(two, 1);
  EXPECT_THAT(one.claim_ids(9), ElementsAre(id_of(2)));
}

TEST_F(PostgresClaims, claim_when_two_servers_do_it_at_once_then_each_job_comes_once) {
  constexpr int jobs = 300;
  std::vector<NewJob> all;
  for (int number = 1; number <= jobs; ++number) all.push_back(new_job(number));
  said(one.journal.submit_all(std::move(all)));
  std::mutex mutex;
  std::multiset<JobId> seen;
  const auto work = [&](Server& server) {
    for (auto claimed = server.claim(5); !claimed.empty(); claimed = server.claim(5)) {
      for (const auto& job : claimed) {
        said(server.journal.complete(job.job.id, job.job.attempt, {}));
        const std::lock_guard lock(mutex);
        seen.insert(job.job.id);
      }
    }
  };
  std::thread other([&] { work(two); });
  work(one);
  other.join();
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(jobs));
  EXPECT_EQ(std::set<JobId>(seen.begin(), seen.end()).size(), seen.size());
}

TEST_F(PostgresClaims, claim_when_an_older_submit_ends_late_then_its_job_comes_still) {
  submit(1);  // makes the day and the lane, which one transaction does at a time
  EXPECT_THAT(two.claim_ids(1), ElementsAre(id_of(1)));
  complete(two, 1);
  const OpenSession older;
  older.run("SET search_path = heistd; BEGIN");
  older.run(
      "SELECT submit(gen_random_uuid(), 'alice', 'digest', '', NULL, 1::smallint, 1::smallint, 0, "
      "NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL, false, to_timestamp(18250 * 86400))");
  for (int looks = 0; looks < 5; ++looks) EXPECT_THAT(two.claim_ids(1), IsEmpty());
  submit(2);
  older.run("COMMIT");
  const auto claimed = two.claim(9);
  ASSERT_EQ(claimed.size(), 2U);
  EXPECT_EQ(claimed[1].job.id, id_of(2));  // it was accepted later
}

TEST_F(PostgresClaims, repetition_when_there_is_no_such_job_then_it_is_answered) {
  OpenSession().run(
      "SET search_path = heistd; SELECT begin_session('three', 1000); DO $$ BEGIN "
      "ASSERT release(gen_random_uuid(), 1, true) IS NOT NULL; "
      "ASSERT requeue(gen_random_uuid(), true, NULL) IS NOT NULL; "
      "ASSERT (fail(gen_random_uuid(), 1, '', '', 0, true, NULL)).is_stored IS NOT NULL; END $$");
}

TEST_F(PostgresClaims, claim_when_a_job_that_came_back_has_expired_then_it_does_not_come) {
  auto job = new_job(1);
  job.ttl = milliseconds(50);
  submit(std::move(job));
  said(one.journal.set_priority(id_of(1), TaskPriority::background));
  now += milliseconds(50);
  EXPECT_THAT(two.claim_ids(1), IsEmpty());
}

TEST_F(PostgresClaims,
       lease_when_it_has_lapsed_then_others_get_the_jobs_and_late_ends_change_nothing) {
  auto job = new_job(1);
  job.max_attempts = 2;
  submit(std::move(job));
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

TEST_F(PostgresClaims, lease_when_it_has_lapsed_then_the_server_loses_its_jobs_and_begins_anew) {
  submit(1);
  EXPECT_EQ(two.claim(2).size(), 1U);
  let_lapse("two");
  EXPECT_THAT(two.claim_ids(2), IsEmpty());
  EXPECT_THAT(two.wait_for_loss(), ElementsAre(id_of(1)));
  // Nobody has taken it for gone: the new session gives the job back.
  while (find(1).state == StoredState::running) std::this_thread::yield();
  std::vector<JobId> claimed;
  while (claimed.empty()) claimed = two.claim_ids(2);
  EXPECT_THAT(claimed, ElementsAre(id_of(1)));
  EXPECT_EQ(find(1).forgiven, 1U);
}

TEST_F(PostgresClaims,
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
  std::vector<JobId> claimed;
  while (claimed.empty()) claimed = one.claim_ids(1);
  EXPECT_THAT(claimed, ElementsAre(id_of(2)));
  EXPECT_EQ(find(2).attempt, 2U);
}

}  // namespace
}  // namespace heistd
