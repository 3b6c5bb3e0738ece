// How many of the jobs that a journal keeps are under way at a time.
#include <algorithm>
#include <cstddef>
#include <heist/jobs.hpp>
#include <heistd/job_restore.hpp>
#include <heistd/start_queue.hpp>
#include <jobs/handler_kind.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kept_jobs_fixture.hpp"

namespace heistd {
namespace {

namespace jobs = heist::jobs;

constexpr auto most = StartQueue::most_at_a_time;

class StartedJobs : public KeptJobs {
 protected:
  /// Has all that can start ask for that, and the journal answer once.
  void start() {
    loop.run_until_idle();
    run_network();
  }
  /// How many of these the journal has in this state.
  std::size_t count(const std::vector<JobId>& ids, StoredState state) {
    return static_cast<std::size_t>(
        std::ranges::count_if(ids, [&](const JobId& id) { return stored(id).state == state; }));
  }
  void run_until_done(const std::vector<JobId>& ids) {
    while (count(ids, StoredState::done) < ids.size()) run_all();
  }
  /// Adds a kind whose jobs wait for the gate. Of all such kinds so many jobs run at a time.
  void add_program(std::string name, std::size_t at_a_time) {
    if (!gate) gate = heist::Promise<void>::with_resolver();
    auto kind = make_handler_kind(
        std::move(name),
        [opening = gate->promise](jobs::Job job) -> heist::Promise<jobs::Result> {
          co_await opening;
          co_return job.id();
        },
        {}, std::source_location::current());
    kind.at_a_time = at_a_time;
    kinds.add(std::move(kind));
  }

  std::optional<heist::PromiseWithResolver<void>> gate;  ///< once there is such a kind
};

// Rule: JRN-2
TEST_F(StartedJobs, start_when_many_wait_then_few_are_under_way_and_the_oldest_first) {
  const auto ids = post_many(3 * most, "/jobs/digest");
  start();
  EXPECT_EQ(count(ids, StoredState::running), most);
  for (std::size_t i = 0; i < most; ++i) EXPECT_EQ(stored(ids[i]).attempt, 1U);
  run_until_done(ids);
  for (const auto& id : ids) EXPECT_EQ(stored(id).attempt, 1U);
}

TEST_F(StartedJobs, start_when_others_are_more_urgent_then_they_do_not_wait) {
  const auto ids = post_many(2 * most, "/jobs/digest?priority=background");
  start();
  const auto urgent = post_kept("/jobs/digest?priority=user-blocking");
  run_one();
  EXPECT_EQ(stored(urgent).attempt, 1U);
  EXPECT_EQ(count(ids, StoredState::running), most);
  run_until_done(ids);
}

// Rule: JRN-2
TEST_F(StartedJobs, start_when_the_journal_has_counted_several_then_urgent_tasks_still_come_first) {
  const auto ids = post_many(3, "/jobs/digest?priority=background");
  start();
  const auto has_begun = [&](const JobId& id) {
    return anonymous.jobs.find(id)->progress->queue_delay().has_value();
  };
  std::ptrdiff_t begun = -1;
  loop.scheduler().post([&] { begun = std::ranges::count_if(ids, has_begun); },
                        {.priority = heist::TaskPriority::user_blocking});
  loop.run_until_idle();
  EXPECT_EQ(begun, 0);
  EXPECT_EQ(std::ranges::count_if(ids, has_begun), 3);
  run_until_done(ids);
}

TEST_F(StartedJobs, start_when_a_signal_gets_another_priority_then_its_jobs_do) {
  const auto others = post_many(most, "/jobs/digest?priority=background");
  ask("PUT", "/signals/night?priority=background");
  const auto ids = post_many(2, "/jobs/digest?signal=night");
  loop.run_until_idle();
  run_network();
  EXPECT_EQ(count(ids, StoredState::running), 0U);
  ask("PUT", "/signals/night?priority=user-blocking");
  run_network();
  EXPECT_EQ(count(ids, StoredState::running), ids.size());
  run_until_done(others);
}

TEST_F(StartedJobs, start_when_one_job_gets_another_priority_then_it_has_that_turn) {
  const auto ids = post_many(most + 3, "/jobs/digest?priority=background");
  start();
  ask("PUT", "/jobs/" + ids.back() + "?priority=user-blocking");
  run_network();
  EXPECT_EQ(stored(ids.back()).attempt, 1U);
  EXPECT_EQ(stored(ids[most]).attempt, 0U);
  run_until_done(ids);
}

TEST_F(StartedJobs, start_when_those_that_ask_are_aborted_then_others_have_their_turns) {
  const auto ids = post_many(most + 3, "/jobs/digest");
  start();
  ask("DELETE", "/jobs/" + ids[most]);
  ask("DELETE", "/jobs/" + ids[0]);
  run_kept();
  run_until_done({ids[most + 1], ids[most + 2]});
  EXPECT_EQ(stored(ids[most]).attempt, 0U);
}

// Rule: JRN-2
TEST_F(StartedJobs, start_when_the_kind_does_few_at_a_time_then_the_others_lose_no_attempt) {
  add_program("waits", 2);
  const auto ids = post_many(5, "/jobs/waits");
  for (int turn = 0; turn < 5; ++turn) start();
  EXPECT_EQ(count(ids, StoredState::running), 2U);
  EXPECT_EQ(stored(ids[2]).attempt, 0U);
  const auto other = post_kept("/jobs/digest");
  start();
  EXPECT_EQ(stored(other).attempt, 1U);
  gate->resolver.resolve();
  run_until_done(ids);
}

// Rule: JRN-2
TEST_F(StartedJobs,
       start_when_all_places_of_programs_are_taken_then_other_programs_lose_no_attempt) {
  add_program("one", 1);
  add_program("other", 1);
  const auto runs = post_kept("/jobs/one?priority=background");
  start();
  const auto lower = post_kept("/jobs/other?priority=background");
  const auto urgent = post_kept("/jobs/one?priority=user-blocking");
  for (int turn = 0; turn < 3; ++turn) start();
  EXPECT_EQ(stored(runs).attempt, 1U);
  EXPECT_EQ(stored(lower).attempt + stored(urgent).attempt, 0U);
  gate->resolver.resolve();
  run_until_done({runs, lower, urgent});
  EXPECT_EQ(journal.started, (std::vector{runs, urgent, lower}));
}

// Rule: SEC-1
TEST_F(StartedJobs, start_when_a_ceiling_is_lower_by_now_then_its_jobs_take_no_urgent_places) {
  authorization = "Bearer a";
  ask("PUT", "/signals/night?priority=user-visible");
  clients.renew({{"alice", "a", heist::TaskPriority::background}});
  const auto ids = post_many(2 * most, "/jobs/digest?signal=night");
  start();
  EXPECT_EQ(count(ids, StoredState::running), most);
  authorization = std::nullopt;
  const auto urgent = post_kept("/jobs/digest?priority=user-visible");
  run_one();
  EXPECT_EQ(stored(urgent).attempt, 1U);
  run_until_done(ids);
}

// Rule: JRN-2
TEST_F(StartedJobs, start_when_jobs_have_lost_an_attempt_then_one_is_under_way_at_a_time) {
  auto ids = post_many(5, "/jobs/digest");
  start();
  ASSERT_EQ(count(ids, StoredState::running), ids.size());
  ClientTable others({}, heist::TaskPriority::user_blocking, limits);
  JobService next(loop.scheduler(), network.get_executor(), &keeper);
  EXPECT_EQ(restore_jobs(next, others, kinds).unfinished, ids.size());
  auto& other = **others.authenticate(std::nullopt);
  other.waiting.wake_some(Clock::now() + std::chrono::seconds(10));
  next.post_waiting(other);
  run_network();
  start();
  EXPECT_EQ(count(ids, StoredState::running), 1U);
  while (count(ids, StoredState::done) < ids.size()) {
    run_all();
    EXPECT_LE(count(ids, StoredState::running), 1U);
  }
}

// Rule: JRN-2
TEST(StartQueue, ask_when_a_program_is_a_suspect_then_it_needs_places_of_both) {
  auto kind = *builtin_kinds().find("digest");
  kind.at_a_time = 2;
  StartQueue queue;
  std::vector<StartQueue::Places> places;
  std::vector<std::shared_ptr<Job>> jobs;
  const auto ask = [&](bool is_suspect) {
    jobs.push_back(std::make_shared<Job>(id_of(static_cast<int>(jobs.size())), kind, 0));
    jobs.back()->fixed_priority = heist::TaskPriority::background;
    jobs.back()->unfinished = std::make_unique<Job::Unfinished>(heist::TaskPriority::background);
    if (is_suspect) {
      const auto lost = lost_attempt();
      jobs.back()->unfinished->last_failure =
          std::make_unique<const JobFailure>(lost.code, lost.message);
    }
    queue.ask(jobs.back(), [&](StartQueue::Places taken) { places.push_back(std::move(taken)); });
  };
  ask(false);
  ask(false);
  ask(true);
  EXPECT_EQ(places.size(), 2U);
  places.at(0) = {};
  EXPECT_EQ(places.size(), 3U);
  ask(true);
  places.at(1) = {};
  places.at(2).to_run.reset();  // there are places of programs, and none of suspects
  EXPECT_EQ(places.size(), 3U);
  ask(false);
  EXPECT_EQ(places.size(), 4U) << "a program need not wait until the end of a suspect is stored";
  places.at(2).of_suspect.reset();
  EXPECT_EQ(places.size(), 5U);
}

}  // namespace
}  // namespace heistd
