// What servers claim that share a database.
#include <mutex>
#include <set>
#include <thread>

#include "postgresql/shared_queue.hpp"

namespace heistd {
namespace {

using heist::TaskPriority;
using testing::ElementsAre;
using testing::IsEmpty;

class PostgresClaims : public SharedQueue {};

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

TEST_F(PostgresClaims, claim_when_a_claimed_job_got_another_priority_then_it_counts_with_that) {
  submit(1, TaskPriority::user_blocking);
  EXPECT_THAT(two.claim_ids(1), ElementsAre(id_of(1)));
  EXPECT_EQ(said(two.journal.set_priority(id_of(1), TaskPriority::background)), Effect::stored);
  submit(2);
  EXPECT_THAT(two.claim_ids(1), ElementsAre(id_of(2)));
}

TEST_F(PostgresClaims, claim_when_others_gave_a_claimed_job_a_priority_then_a_look_has_it_count) {
  submit(1, TaskPriority::user_blocking);
  EXPECT_THAT(two.claim_ids(1), ElementsAre(id_of(1)));
  said(one.journal.set_priority(id_of(1), TaskPriority::background));
  said(two.journal.look());
  submit(2);
  EXPECT_THAT(two.claim_ids(1), ElementsAre(id_of(2)));
}

TEST_F(PostgresClaims, claim_when_a_job_of_a_signal_has_a_priority_of_its_own_then_it_keeps_both) {
  submit(1);
  for (int number = 2; number <= 3; ++number) {
    auto job = new_job(number);
    job.signal_name = "night";
    job.priority = TaskPriority::user_blocking;
    job.signal_priority = TaskPriority::background;
    submit(std::move(job));
  }
  EXPECT_THAT(two.claim_ids(1), ElementsAre(id_of(2)));
  EXPECT_EQ(said(one.journal.set_priority(id_of(3), TaskPriority::background)), Effect::stored);
  submit(4);
  EXPECT_THAT(one.claim_ids(1), ElementsAre(id_of(1)));
  EXPECT_EQ(said(one.journal.drop_signal("alice", "night")), Effect::stored);
  for (int number = 2; number <= 3; ++number) EXPECT_EQ(find(number).state, StoredState::aborted);
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

TEST_F(PostgresClaims, claim_when_a_client_is_not_known_then_jobs_of_others_come) {
  submit(1);
  auto other = new_job(2);
  other.client = "bob";
  submit(std::move(other));
  EXPECT_THAT(two.claim_ids({9, {"bob"}, {"digest"}}), ElementsAre(id_of(2)));
}

TEST_F(PostgresClaims, claim_when_jobs_were_refused_then_those_behind_them_come) {
  for (int number = 1; number <= 4; ++number) submit(number);
  const auto refused = one.claim(2);
  ASSERT_EQ(refused.size(), 2U);
  for (const auto& job : refused) said(one.journal.release(job.job.id, 1));
  ClaimWish wish{1, {"alice"}, {"digest"}};
  wish.passed = {{refused[1].lane, {refused[0].turn, refused[1].turn}}};
  EXPECT_THAT(one.claim_ids(wish), ElementsAre(id_of(3)));
  complete(one, 3);
  EXPECT_THAT(two.claim_ids(1), ElementsAre(id_of(1)));  // others have them
  EXPECT_THAT(one.claim_ids(wish), ElementsAre(id_of(4)));
  said(one.journal.release(id_of(4), 1));
  EXPECT_THAT(one.claim_ids(wish), ElementsAre(id_of(4)));  // as it was not refused
}

TEST_F(PostgresClaims, claim_when_older_jobs_get_the_priority_of_refused_ones_then_they_come) {
  submit(1, TaskPriority::background);
  for (int number = 2; number <= 4; ++number) submit(number);
  const auto refused = one.claim(2);
  ASSERT_EQ(refused.size(), 2U);
  for (const auto& job : refused) said(one.journal.release(job.job.id, 1));
  said(one.journal.set_priority(id_of(1), TaskPriority::user_visible));
  ClaimWish wish{2, {"alice"}, {"digest"}};
  wish.passed = {{refused[1].lane, {refused[0].turn, refused[1].turn}}};
  EXPECT_THAT(one.claim_ids(wish), ElementsAre(id_of(1), id_of(4)));
}

TEST_F(PostgresClaims,
       claim_when_a_client_has_its_limit_then_others_come_and_its_more_urgent_first) {
  for (int number = 1; number <= 3; ++number) submit(number);
  auto other = new_job(4);
  other.client = "bob";
  submit(std::move(other));
  submit(5, TaskPriority::user_blocking);
  ClaimWish wish{4, {"alice", "bob"}, {"digest"}, {{"alice", 2}}};
  EXPECT_THAT(two.claim_ids(wish), ElementsAre(id_of(5), id_of(1), id_of(4)));
  EXPECT_THAT(two.claim_ids(wish), IsEmpty());
  complete(two, 5);
  EXPECT_THAT(two.claim_ids(wish), ElementsAre(id_of(2)));
  EXPECT_THAT(one.claim_ids(wish), ElementsAre(id_of(3)));
}

TEST_F(PostgresClaims, claim_when_programs_have_their_limit_then_other_kinds_come) {
  submit(1, TaskPriority::user_visible, "nap");
  submit(2, TaskPriority::user_blocking, "sleep");
  submit(3);
  ClaimWish wish{4, {"alice"}, {"digest", "nap", "sleep"}, {}, {"nap", "sleep"}, 1};
  EXPECT_THAT(two.claim_ids(wish), ElementsAre(id_of(2), id_of(3)));
  EXPECT_THAT(two.claim_ids(wish), IsEmpty());
  complete(two, 2);
  EXPECT_THAT(two.claim_ids(wish), ElementsAre(id_of(1)));
}

TEST_F(PostgresClaims, claim_when_the_server_has_more_new_jobs_than_agents_then_others_hear_of_it) {
  submit(1);
  submit(2);
  EXPECT_THAT(one.claim_ids(3), ElementsAre(id_of(1), id_of(2)));
  EXPECT_EQ(two.hints, 0);
  submit(3);
  submit(4);
  EXPECT_THAT(one.claim_ids(3), ElementsAre(id_of(3)));
  EXPECT_TRUE(two.wait_for_hint());
}

TEST_F(PostgresClaims, claim_when_a_limit_leaves_new_jobs_then_others_hear_of_it) {
  submit(1);
  submit(2);
  const ClaimWish wish{9, {"alice"}, {"digest"}, {{"alice", 1}}};
  EXPECT_THAT(one.claim_ids(wish), ElementsAre(id_of(1)));
  EXPECT_TRUE(two.wait_for_hint());
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
  const auto work = [&](QueueServer& server) {
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

TEST_F(PostgresClaims, claim_when_others_take_what_is_older_then_the_rest_of_its_priority_comes) {
  for (int number = 1; number <= 2; ++number) submit(number);
  auto urgent = new_job(3);
  urgent.client = "bob";
  submit(std::move(urgent));
  submit(4, TaskPriority::background);
  const ServerByHand other;
  other.begin();
  EXPECT_EQ(
      other.run("SELECT count(it) FROM claim(2, '{}', '{alice}', '{digest}', '{}', '{}', '{}', "
                "0, '{}', '{}', '{}', 0, '{0}', '{}', '{}', 0, 0, to_timestamp(18250 * 86400))"),
      "2");
  EXPECT_THAT(one.claim_ids(1), ElementsAre(id_of(3)));
  other.run("ROLLBACK");
  EXPECT_THAT(two.claim_ids(3), ElementsAre(id_of(1), id_of(2), id_of(4)));
}

TEST_F(PostgresClaims,
       submit_when_the_job_of_its_key_is_aborted_at_that_moment_then_it_is_accepted) {
  auto job = new_job(1);
  job.key = {"key", "digest"};
  submit(job);
  run_sql(
      "CREATE FUNCTION heistd.free_key() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
      "DELETE FROM heistd.idempotency WHERE id = '" +
      id_of(1) +
      "'; RETURN NULL; END $$; CREATE TRIGGER at_that_moment AFTER INSERT ON "
      "heistd.idempotency EXECUTE FUNCTION heistd.free_key()");
  job.id = id_of(2);
  submit(std::move(job));
  EXPECT_EQ(find(2).key->key, "key");
}

TEST_F(PostgresClaims, remove_unused_then_lanes_and_signals_go_that_no_job_has_and_no_submit_uses) {
  const ServerByHand server;
  for (const auto* name : {"one", "two", "three"}) {
    said(one.journal.set_signal("alice", name, TaskPriority::background));
  }
  for (int number = 1; number <= 4; ++number) submit_to_signal(number);
  submit(5);
  EXPECT_EQ(server.run("SELECT remove_unused(2)"), "0");  // there are no more
  EXPECT_EQ(server.run("SELECT remove_unused(0)"), "0");
  EXPECT_EQ(said(one.journal.abort(id_of(5), {})), Effect::stored);
  EXPECT_EQ(server.run("SELECT remove_unused(0)"), "1");
  for (int number = 1; number <= 4; ++number) said(one.journal.abort(id_of(number), {}));
  const OpenSession submitting;
  submitting.run(
      "SET search_path = heistd; BEGIN; SELECT lane_of_signal('alice', 'digest', 'night', NULL, "
      "1::smallint)");
  EXPECT_EQ(server.run("SELECT remove_unused(0)"), "0");
  submitting.run("COMMIT");
  EXPECT_EQ(server.run("SELECT remove_unused(0)"), "1");
  EXPECT_EQ(server.run("SELECT count(*) FROM signal"), "3");  // those that were put
  submit_to_signal(6);
  EXPECT_THAT(two.claim_ids(1), ElementsAre(id_of(6)));
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
  ServerByHand().run(
      "DO $$ BEGIN ASSERT release(gen_random_uuid(), 1, false, true) IS NOT NULL; "
      "ASSERT requeue(gen_random_uuid(), true, NULL) IS NOT NULL; "
      "ASSERT (fail(gen_random_uuid(), 1, '', '', 0, true, NULL)).is_stored IS NOT NULL; END $$");
}

TEST_F(PostgresClaims, repetition_when_followers_were_aborted_then_it_names_them) {
  const ServerByHand server;
  const auto submit_three = [this](int first, const char* signal) {
    for (int number = first; number < first + 3; ++number) {
      auto job = new_job(number);
      if (number > first) job.after = id_of(number - 1);
      if (number == first) job.signal_name = signal;
      submit(std::move(job));
    }
  };
  const auto expect_named = [&server](const std::string& call, int first) {
    server.run("SELECT " + call + "false, NULL)");
    EXPECT_EQ(server.run("SELECT string_agg(id::text, ' ' ORDER BY id) FROM unnest((" + call +
                         "true, NULL)).aborted) id"),
              server.run("SELECT '" + id_of(first + 1) + "'::uuid::text || ' ' || '" +
                         id_of(first + 2) + "'::uuid::text"));
  };
  submit_three(1, "");
  expect_named("abort('" + id_of(1) + "', 'aborted', '', ", 1);
  submit_three(11, "");
  server.run("SELECT start('" + id_of(11) + "', 0, false)");
  expect_named("fail('" + id_of(11) + "', 1, '', '', NULL, ", 11);
  submit_three(21, "night");
  expect_named("drop_signal('alice', 'night', ", 21);
}

TEST_F(PostgresClaims, claim_when_claimed_jobs_were_aborted_then_others_take_their_agents) {
  submit(1);
  submit_to_signal(2);
  EXPECT_THAT(two.claim_ids(2), ElementsAre(id_of(1), id_of(2)));
  EXPECT_EQ(said(two.journal.abort(id_of(1), {})), Effect::stored);
  EXPECT_EQ(said(two.journal.drop_signal("alice", "night")), Effect::stored);
  for (int number = 3; number <= 5; ++number) submit(number);
  EXPECT_THAT(two.claim_ids(2), ElementsAre(id_of(3), id_of(4)));
}

TEST_F(PostgresClaims, claim_when_a_job_that_came_back_has_expired_then_it_does_not_come) {
  auto job = new_job(1);
  job.ttl = milliseconds(50);
  submit(std::move(job));
  said(one.journal.set_priority(id_of(1), TaskPriority::background));
  now += milliseconds(50);
  EXPECT_THAT(two.claim_ids(1), IsEmpty());
}

}  // namespace
}  // namespace heistd
