// Jobs of a journal that start without asking for that, as they have nobody to wait for.
#include <gmock/gmock.h>

#include <functional>
#include <heist/jobs.hpp>
#include <heistd/first_start.hpp>
#include <heistd/start_queue.hpp>
#include <jobs/handler_kind.hpp>

#include "heistd/no_memory.hpp"
#include "kept_jobs_fixture.hpp"

namespace heistd {
namespace {

namespace jobs = heist::jobs;

constexpr auto most_at_once = StartQueue::most_at_a_time;

class JobsAtOnce : public KeptJobs {
 protected:
  JobsAtOnce() { journal.starts_at_once = true; }

  void expect_all_given_back() {
    EXPECT_EQ(anonymous.budget->jobs(), 0U);
    EXPECT_EQ(anonymous.budget->bytes(), 0U);
    EXPECT_EQ(anonymous.waiting.without_run_place(heist::TaskPriority::background), 0U);
    EXPECT_EQ(anonymous.run_places.taken(), 0U);
    EXPECT_TRUE(anonymous.at_once.empty());
    EXPECT_EQ(count_that_start_at_once(2 * most_at_once), most_at_once);
  }
  /// Of so many jobs that are posted now, how many the agents start although the network rests.
  std::size_t count_that_start_at_once(std::size_t jobs) {
    const auto before = journal.started.size();
    post_many(jobs, "/jobs/digest");
    loop.run_until_idle();
    return journal.started.size() - before;
  }
};

// Rule: JRN-2
TEST_F(JobsAtOnce, run_when_nobody_waits_then_the_agent_counts_the_start) {
  const auto id = post_kept("/jobs/digest");
  EXPECT_EQ(stored(id).attempt, 0U);
  EXPECT_EQ(anonymous.run_places.taken(), 1U);  // as a limit of a later configuration counts it
  loop.run_until_idle();
  EXPECT_EQ(stored(id).attempt, 1U);
  EXPECT_EQ(state_of(id), "running");
  EXPECT_EQ(ask("GET", "/jobs/" + id).json()["attempts"], 1);
  run_network();
  EXPECT_EQ(state_of(id), "done");
  EXPECT_EQ(ask("GET", "/jobs/" + id).json()["attempts"], 1);
  EXPECT_EQ(stored(id).state, StoredState::done);
  expect_all_given_back();
}

// Rule: JRN-5
TEST_F(JobsAtOnce, run_when_one_of_its_priority_asks_then_a_job_comes_behind_that) {
  auto ids = post_many(most_at_once + 1, "/jobs/digest");  // the last one has to ask
  run_one();
  ids.push_back(post_kept("/jobs/digest"));  // there is a place again
  run_kept();
  EXPECT_EQ(journal.started, ids);
}

TEST_F(JobsAtOnce, run_when_each_has_a_signal_of_its_own_then_few_lines_are_kept) {
  for (int i = 0; i < 100; ++i) {
    post_kept("/jobs/digest?signal=s" + std::to_string(i));
    run_kept();
  }
  EXPECT_LT(anonymous.waiting.lines().size(), 50U);
}

TEST_F(JobsAtOnce, post_without_memory_for_a_line_then_later_ones_are_accepted) {
  for (std::size_t successes = 0;; ++successes) {
    const auto signal = std::to_string(successes);
    const auto group = anonymous.signals.find_or_make(signal, heist::TaskPriority::background);
    const NoMemory none(successes, NoMemory::Fails::once);
    try {
      static_cast<void>(anonymous.waiting.line_of(signal, group, std::nullopt, group->counts,
                                                  *kinds.find("digest"),
                                                  anonymous.kind_pauses.of(*kinds.find("digest"))));
    } catch (const std::bad_alloc&) {
    }
    if (!none.struck()) break;
  }
  post_kept("/jobs/digest");
  run_kept();
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

TEST_F(JobsAtOnce, run_when_only_less_urgent_jobs_ask_then_a_job_need_not) {
  post_many(2 * most_at_once, "/jobs/digest?priority=background");
  EXPECT_EQ(count_that_start_at_once(1), 1U + most_at_once);
}

TEST_F(JobsAtOnce, run_when_the_client_has_a_limit_of_jobs_that_run_then_they_ask) {
  auto limited = anonymous.limits();
  limited.running = 3;
  anonymous.set_limits(limited);
  EXPECT_EQ(count_that_start_at_once(2), 0U);
}

TEST_F(JobsAtOnce, run_when_one_asks_that_has_lost_an_attempt_then_a_job_need_not) {
  post_suspect();
  EXPECT_EQ(count_that_start_at_once(1), 1U);
}

TEST_F(JobsAtOnce, run_when_one_that_was_held_asks_and_has_lost_an_attempt_then_a_job_need_not) {
  post_suspect();
  ask("POST", "/kinds/digest/pause");
  run_kept();
  ASSERT_EQ(anonymous.held.size(), 1U);
  ask("POST", "/kinds/digest/resume");
  run_network();
  ASSERT_TRUE(anonymous.held.empty());
  EXPECT_EQ(count_that_start_at_once(1), 1U);
}

TEST_F(JobsAtOnce, run_when_one_asks_of_a_kind_of_which_few_run_at_a_time_then_a_job_need_not) {
  auto few = make_handler_kind(
      "few", [](jobs::Job job) -> heist::Promise<jobs::Result> { co_return job.id(); }, {},
      std::source_location::current());
  few.at_a_time = 2;
  kinds.add(std::move(few));
  post_kept("/jobs/few");
  EXPECT_EQ(count_that_start_at_once(1), 1U);
}

TEST_F(JobsAtOnce, run_when_one_waits_for_its_next_attempt_then_a_job_need_not) {
  kinds.add(make_handler_kind(
      "busy",
      [](const jobs::Job&) -> heist::Promise<jobs::Result> {
        throw jobs::Failure::transient("busy", "The other server is busy.");
      },
      {}, std::source_location::current()));
  const auto waits = post_kept("/jobs/busy");
  run_kept();
  ASSERT_EQ(state_of(waits), "delayed");
  EXPECT_EQ(count_that_start_at_once(1), 1U);
}

TEST_F(JobsAtOnce, run_when_a_limit_comes_then_those_that_start_at_once_count_once) {
  post_kept("/jobs/digest");
  auto limited = anonymous.limits();
  limited.running = 2;
  anonymous.set_limits(limited);
  const auto other = post_kept("/jobs/digest");
  EXPECT_EQ(anonymous.waiting.find(other), nullptr);
}

// Rule: JRN-7
TEST_F(JobsAtOnce, run_when_paused_before_its_start_then_it_is_not_counted_and_starts_later) {
  const auto id = post_kept("/jobs/digest");
  ask("POST", "/kinds/digest/pause");
  run_kept();
  EXPECT_EQ(stored(id).attempt, 0U);
  EXPECT_EQ(state_of(id), "queued");
  ask("POST", "/kinds/digest/resume");
  run_kept();
  EXPECT_EQ(state_of(id), "done");
  EXPECT_EQ(stored(id).attempt, 1U);
  expect_all_given_back();
}

// Rule: JRN-5
TEST_F(JobsAtOnce, run_when_another_one_starts_anew_after_a_pause_then_a_job_comes_behind_that) {
  const auto held = post_kept("/jobs/digest");
  ask("POST", "/kinds/digest/pause");
  run_kept();
  kept.set_pause(anonymous, *kinds.find("digest"), false);  // and the journal is asked for it
  const auto fresh = post_kept("/jobs/digest");
  run_kept();
  EXPECT_THAT(journal.started, testing::ElementsAre(held, fresh));
}

TEST_F(JobsAtOnce, abort_when_the_job_runs_then_its_attempt_counts) {
  const JobId id = ask("POST", "/jobs/compress", std::string(1 << 20, 'x')).json()["id"];
  loop.run_one();
  EXPECT_EQ(ask("DELETE", "/jobs/" + id).json()["attempts"], 1);
  run_kept();
  EXPECT_EQ(stored(id).attempt, 1U);
  expect_all_given_back();
}

TEST_F(JobsAtOnce, abort_when_the_job_has_not_started_then_it_is_never_counted) {
  const auto id = post_kept("/jobs/digest");
  ask("DELETE", "/jobs/" + id);
  const auto of_signal = post_kept("/jobs/digest?signal=night");
  ask("DELETE", "/signals/night");
  run_kept();
  EXPECT_EQ(stored(id).state, StoredState::aborted);
  EXPECT_EQ(stored(of_signal).state, StoredState::aborted);
  EXPECT_TRUE(journal.started.empty());
  expect_all_given_back();
}

// Rule: JRN-2
TEST_F(JobsAtOnce, shutdown_when_some_have_started_then_only_their_attempts_are_released) {
  const JobId started = ask("POST", "/jobs/compress", std::string(1 << 20, 'x')).json()["id"];
  const auto waiting = post_kept("/jobs/digest?priority=background");
  loop.run_one();
  EXPECT_EQ(stored(started).state, StoredState::running);
  kept.start_shutdown();
  while (kept.abort_some(clients, "the test") > 0) {
  }
  run_kept();
  EXPECT_EQ(stored(started).state, StoredState::queued);
  EXPECT_EQ(stored(started).forgiven, 1U);
  EXPECT_EQ(stored(waiting).state, StoredState::queued);
  EXPECT_EQ(stored(waiting).attempt, 0U);
}

// Rule: JRN-2
TEST_F(JobsAtOnce, run_when_its_start_cannot_be_counted_then_it_does_not_run_until_it_is) {
  journal.is_full = true;
  const auto id = post_kept("/jobs/digest");
  run_kept();
  EXPECT_EQ(state_of(id), "delayed");
  EXPECT_EQ(stored(id).attempt, 0U);
  journal.is_full = false;
  loop.advance(std::chrono::seconds(3));  // longer than the first pause
  run_kept();
  EXPECT_EQ(state_of(id), "done");
  expect_all_given_back();
}

/// Says what it is told.
struct Told : JobJournal::FirstAttempt {
  explicit Told(std::vector<std::string>& its_calls) : calls(its_calls) {}
  void count() override {
    calls.emplace_back("count");
    if (during_count) during_count();
  }
  void take_back() noexcept override { calls.emplace_back("take back"); }

  std::vector<std::string>& calls;
  std::function<void()> during_count;
};

class FirstStartTest : public testing::Test {
 protected:
  std::vector<std::string> calls;
  Told* attempt = nullptr;
  FirstStart start{[this] {
    auto made = std::make_unique<Told>(calls);
    attempt = made.get();
    return made;
  }()};
};

TEST_F(FirstStartTest, give_up_when_it_has_begun_then_it_says_so) {
  EXPECT_TRUE(start.begin());
  EXPECT_TRUE(start.has_begun());
  EXPECT_FALSE(start.give_up());
  EXPECT_THAT(calls, testing::ElementsAre("count"));
}

TEST_F(FirstStartTest, begin_when_given_up_while_it_is_counted_then_that_is_taken_back) {
  attempt->during_count = [this] { EXPECT_TRUE(start.give_up()); };
  EXPECT_FALSE(start.begin());
  EXPECT_FALSE(start.has_begun());
  EXPECT_TRUE(start.give_up());
  EXPECT_THAT(calls, testing::ElementsAre("count", "take back"));
}

TEST_F(FirstStartTest, begin_when_it_cannot_be_counted_then_it_is_given_up) {
  attempt->during_count = [] { throw std::bad_alloc(); };
  EXPECT_FALSE(start.begin());
  EXPECT_TRUE(start.give_up());
  EXPECT_THAT(calls, testing::ElementsAre("count"));
}

}  // namespace
}  // namespace heistd
