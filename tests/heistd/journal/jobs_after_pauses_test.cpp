// Jobs of a journal that come as a pause ends: those that it has held back are before them.
#include <gmock/gmock.h>

#include <algorithm>
#include <heistd/waiting_jobs.hpp>
#include <vector>

#include "heistd/no_memory.hpp"
#include "kept_jobs_fixture.hpp"

namespace heistd {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

constexpr auto batch = WaitingJobs::most_posted;

class JobsAfterPauses : public KeptJobs {
 protected:
  void pause() { kept.set_pause(anonymous, *kinds.find("digest"), true); }
  void resume() { kept.set_pause(anonymous, *kinds.find("digest"), false); }
  /// The network hears of this job right after it has ended the pause, and before all else.
  JobId post_as_the_pause_ends(std::string_view target = "/jobs/digest") {
    const auto accepted = begin("POST", target, "bytes");
    resume();
    const auto answered = answer(std::get<Reply>(std::get<Storing>(accepted).then()));
    return answered.header("Location").substr(std::string_view("/jobs/").size());
  }
  /// One after another, as soon as they may.
  std::vector<JobId> start_all(std::size_t jobs) {
    for (int turn = 0; turn < 100 && journal.started.size() < jobs; ++turn) run_all();
    return journal.started;
  }
};

// Rule: JRN-5
TEST_F(JobsAfterPauses, resume_when_agents_have_held_some_then_the_others_start_behind_them) {
  const auto ids = post_many(3, "/jobs/digest");
  pause();
  loop.run_one();
  resume();
  EXPECT_EQ(start_all(3), ids);
}

// Rule: JRN-5
TEST_F(JobsAfterPauses, resume_when_agents_have_held_one_then_others_of_its_priority_come_behind) {
  const auto held = post_kept("/jobs/digest");
  const auto other = post_kept("/jobs/digest?signal=s");
  pause();
  loop.run_one();
  resume();
  EXPECT_THAT(start_all(2), ElementsAre(held, other));
}

// Rule: JRN-5
TEST_F(JobsAfterPauses, pause_when_a_record_is_being_read_then_it_waits) {
  auto job = new_job(1);
  job.client = anonymous.name;
  said(journal.submit(job));
  kept.restore(anonymous, *kinds.find("digest"), stored(job.id));
  kept.post_waiting(anonymous);
  pause();
  run_network();
  EXPECT_EQ(anonymous.jobs.find(job.id), nullptr);
  resume();
  EXPECT_THAT(start_all(1), ElementsAre(job.id));
}

TEST_F(JobsAfterPauses, resume_without_memory_then_those_that_are_held_start_after_any_event) {
  const auto held = post_kept("/jobs/digest");
  pause();
  run_kept();
  {
    const NoMemory none(0);
    resume();
  }
  ASSERT_EQ(anonymous.held.size(), 1U);
  {
    const NoMemory none(0);
    EXPECT_FALSE(kept.recover(clients));
  }
  EXPECT_TRUE(kept.recover(clients));  // after an event of anybody
  EXPECT_THAT(start_all(1), ElementsAre(held));
}

// Rule: JRN-5
TEST_F(JobsAfterPauses,
       resume_when_one_was_held_at_its_start_then_who_waits_for_its_place_does_so) {
  const auto ids = post_many(3, "/jobs/digest");
  anonymous.set_limits({.running = 1});
  run_all();  // the first one has the place, and the others have asked for it
  pause();
  run_all();
  ASSERT_EQ(anonymous.jobs.find(ids[0])->state(), JobState::done);
  ASSERT_TRUE(anonymous.jobs.find(ids[1])->unfinished->is_held_back);
  resume();  // and the agent has not heard that the second one is held
  EXPECT_EQ(start_all(3), ids);
}

// Rule: JRN-5
TEST_F(JobsAfterPauses, resume_when_two_pauses_have_held_others_then_they_start_in_their_order) {
  const auto ids = post_many(3, "/jobs/digest");
  for (int pauses = 0; pauses < 2; ++pauses) {
    pause();
    loop.run_one();
    resume();
    run_network();
  }
  EXPECT_EQ(start_all(3), ids);
}

// Rule: JRN-5
TEST_F(JobsAfterPauses, resume_when_a_later_one_is_held_first_then_they_start_in_their_order) {
  const auto ids = post_many(2, "/jobs/digest");
  pause();
  loop.run_one();
  resume();
  run_network();  // the first one is behind the second one by now
  pause();
  run_kept();
  ASSERT_EQ(anonymous.held.size(), 2U);
  resume();
  EXPECT_EQ(start_all(2), ids);
}

// Rule: JRN-5
TEST_F(JobsAfterPauses, resume_when_an_earlier_one_is_paused_still_then_others_do_not_wait_for_it) {
  const auto held = post_kept("/jobs/digest?signal=s");
  const auto other = post_kept("/jobs/digest");
  ASSERT_TRUE(kept.set_pause(anonymous, "s", true));
  pause();
  loop.run_one();
  resume();
  run_kept();
  EXPECT_THAT(journal.started, ElementsAre(other));
  ASSERT_TRUE(kept.set_pause(anonymous, "s", false));
  EXPECT_THAT(start_all(2), ElementsAre(other, held));
}

TEST_F(JobsAfterPauses, drain_when_one_is_held_then_those_behind_it_start_all_the_same) {
  post_kept("/jobs/digest");
  const auto other = post_kept("/jobs/digest?signal=s");
  pause();
  loop.run_one();
  resume();
  kept.start_shutdown();
  run_kept();
  EXPECT_THAT(journal.started, ElementsAre(other));
}

TEST_F(JobsAfterPauses,
       pause_without_memory_when_an_agent_has_held_one_then_it_starts_once_it_may) {
  const auto held = post_kept("/jobs/digest");
  pause();
  loop.run_until_idle();
  {
    const NoMemory none(0);
    run_network();
  }
  resume();
  EXPECT_THAT(start_all(1), ElementsAre(held));
}

// Rule: JRN-5
TEST_F(JobsAfterPauses, resume_when_a_record_of_another_signal_is_being_read_then_it_waits) {
  const auto held = post_kept("/jobs/digest");
  auto job = new_job(1);
  job.client = anonymous.name;
  job.signal_name = "s";
  said(journal.submit(job));
  kept.restore(anonymous, *kinds.find("digest"), stored(job.id));
  kept.post_waiting(anonymous);
  pause();
  resume();
  step_network();
  EXPECT_EQ(anonymous.jobs.find(job.id), nullptr);
  EXPECT_THAT(start_all(2), ElementsAre(held, job.id));
}

TEST_F(JobsAfterPauses, resume_when_one_has_lost_an_attempt_then_it_waits_for_no_other) {
  post_kept("/jobs/digest");
  post_suspect();
  loop.run_one();  // the first one asks for its start
  pause();
  loop.run_one();
  run_network();  // and its agent has not heard that it is held
  ASSERT_EQ(anonymous.held.size(), 1U);
  resume();
  EXPECT_TRUE(anonymous.held.empty());
}

TEST_F(JobsAfterPauses, resume_when_there_is_no_memory_to_start_one_then_others_need_not_wait) {
  post_kept("/jobs/digest");
  pause();
  run_kept();
  resume();
  run_all();
  loop.run_until_idle();  // it asks for its start
  {
    const NoMemory none(0);
    EXPECT_THROW(run_network(), std::bad_alloc);
  }
  run_kept();  // it is to be tried again after a while
  ASSERT_TRUE(journal.started.empty());
  const auto other = post_kept("/jobs/digest");
  EXPECT_THAT(start_all(1), ElementsAre(other));
}

class JobsAtOnceAfterPauses : public JobsAfterPauses {
 protected:
  JobsAtOnceAfterPauses() { journal.starts_at_once = true; }
};

// Rule: JRN-5
TEST_F(JobsAfterPauses, resume_when_held_ones_are_being_read_then_a_new_job_starts_behind_them) {
  const auto held = post_kept("/jobs/digest");
  pause();
  run_kept();
  const auto fresh = post_as_the_pause_ends();
  EXPECT_THAT(start_all(2), ElementsAre(held, fresh));
}

// Rule: JRN-5
TEST_F(JobsAfterPauses, resume_when_more_than_a_batch_is_held_then_a_new_job_starts_behind_them) {
  post_many(batch, "/jobs/digest");
  auto ids = post_many(batch, "/jobs/digest?priority=background");
  pause();
  run_kept();
  ASSERT_EQ(anonymous.held.size(), 2 * batch);
  ids.push_back(post_as_the_pause_ends("/jobs/digest?priority=background"));
  auto started = start_all(2 * batch + 1);
  std::erase_if(started, [&](const JobId& id) { return std::ranges::count(ids, id) == 0; });
  EXPECT_THAT(started, ElementsAreArray(ids));
}

// Rule: JRN-5
TEST_F(JobsAfterPauses, resume_when_more_than_a_batch_is_held_then_records_start_behind_them) {
  post_many(batch, "/jobs/digest");
  auto ids = post_many(batch, "/jobs/digest?priority=background");
  pause();
  ids.push_back(post_kept("/jobs/digest?priority=background"));
  run_kept();
  ASSERT_EQ(anonymous.held.size(), 2 * batch);
  resume();
  kept.post_waiting(anonymous);
  auto started = start_all(2 * batch + 1);
  std::erase_if(started, [&](const JobId& id) { return std::ranges::count(ids, id) == 0; });
  EXPECT_THAT(started, ElementsAreArray(ids));
}

// Rule: JRN-5
TEST_F(JobsAfterPauses, resume_when_held_ones_were_moved_then_a_new_job_starts_behind_them) {
  const auto held = post_kept("/jobs/digest?priority=background");
  pause();
  run_kept();
  EXPECT_EQ(ask("PUT", "/jobs/" + held + "?priority=user-blocking").status, 200U);
  const auto fresh = post_as_the_pause_ends("/jobs/digest?priority=user-blocking");
  EXPECT_THAT(start_all(2), ElementsAre(held, fresh));
}

TEST_F(JobsAfterPauses, resume_when_others_are_held_then_a_job_of_another_priority_need_not_wait) {
  post_kept("/jobs/digest?priority=background");
  pause();
  run_kept();
  const auto fresh = post_as_the_pause_ends();
  EXPECT_EQ(anonymous.waiting.find(fresh), nullptr);
}

// Rule: JRN-5
TEST_F(JobsAfterPauses, resume_when_an_agent_has_just_held_one_then_a_new_job_starts_behind_it) {
  const auto held = post_kept("/jobs/digest");
  pause();
  loop.run_until_idle();
  const auto fresh = post_as_the_pause_ends();
  EXPECT_THAT(start_all(2), ElementsAre(held, fresh));
}

// Rule: JRN-5
TEST_F(JobsAfterPauses, resume_when_one_was_held_at_its_start_then_a_new_job_starts_behind_it) {
  const auto held = post_kept("/jobs/digest");
  loop.run_until_idle();
  pause();
  step_network();  // it has asked for its start, and its agent has not heard the answer
  const auto fresh = post_as_the_pause_ends();
  EXPECT_THAT(start_all(2), ElementsAre(held, fresh));
}

// Rule: JRN-5
TEST_F(JobsAfterPauses, resume_when_an_agent_comes_to_one_later_then_it_starts_and_then_a_new_job) {
  const auto posted = post_kept("/jobs/digest");
  pause();
  const auto fresh = post_as_the_pause_ends();
  EXPECT_THAT(start_all(2), ElementsAre(posted, fresh));
}

// Rule: JRN-5
TEST_F(JobsAtOnceAfterPauses, resume_when_an_agent_has_just_held_one_then_a_new_job_comes_behind) {
  const auto held = post_kept("/jobs/digest");
  pause();
  loop.run_until_idle();
  const auto fresh = post_as_the_pause_ends();
  EXPECT_THAT(start_all(2), ElementsAre(held, fresh));
}

// Rule: JRN-5
TEST_F(JobsAtOnceAfterPauses, resume_when_an_agent_comes_to_one_later_then_a_new_job_comes_behind) {
  const auto posted = post_kept("/jobs/digest");
  pause();
  const auto fresh = post_as_the_pause_ends();
  EXPECT_THAT(start_all(2), ElementsAre(posted, fresh));
}

// Rule: JRN-5
TEST_F(JobsAtOnceAfterPauses,
       resume_when_agents_come_to_all_later_then_those_that_ask_come_behind) {
  auto ids = post_many(2, "/jobs/digest");
  journal.starts_at_once = false;
  ids.push_back(post_kept("/jobs/digest"));
  ids.push_back(post_kept("/jobs/digest"));
  pause();
  resume();
  EXPECT_EQ(start_all(4), ids);
}

// Rule: JRN-5
TEST_F(JobsAtOnceAfterPauses, resume_when_an_agent_comes_to_all_later_then_another_kind_is_behind) {
  const auto held = post_kept("/jobs/digest");
  const auto other = post_kept("/jobs/compress");
  pause();
  resume();
  EXPECT_THAT(start_all(2), ElementsAre(held, other));
}

/// One that is held, of which its agent does not know yet, and a later one of which it does.
class JobsHeldOneByOne : public JobsAfterPauses {
 protected:
  JobsHeldOneByOne() {
    loop.run_one();  // the first one asks for its start
    pause();
    loop.run_one();
    run_network();
  }

  const JobId first = post_kept("/jobs/digest");
  const JobId later = post_kept("/jobs/digest");
};

// Rule: JRN-5
TEST_F(JobsHeldOneByOne, resume_then_the_first_is_first) {
  ASSERT_EQ(anonymous.held.size(), 1U);
  resume();
  EXPECT_THAT(start_all(2), ElementsAre(first, later));
}

TEST_F(JobsHeldOneByOne, abort_when_the_later_one_waits_for_the_first_then_it_starts) {
  resume();
  run_network();
  EXPECT_FALSE(kept.recover(clients));
  EXPECT_EQ(ask("DELETE", "/jobs/" + first).status, 200U);
  EXPECT_TRUE(kept.recover(clients));
  EXPECT_THAT(start_all(1), ElementsAre(later));
}

// Rule: JRN-5
TEST_F(JobsAfterPauses, put_priority_when_a_job_is_held_then_it_is_behind_those_that_are_posted) {
  const auto moved = post_kept("/jobs/digest?priority=background");
  const auto posted = post_kept("/jobs/digest");
  pause();
  run_kept();
  EXPECT_EQ(ask("PUT", "/jobs/" + moved + "?priority=user-visible").status, 200U);
  resume();
  EXPECT_THAT(start_all(2), ElementsAre(posted, moved));
}

TEST_F(JobsAtOnceAfterPauses, resume_when_one_runs_then_a_new_job_need_not_wait_for_it) {
  ask("POST", "/jobs/compress", std::string(1 << 20, 'x'));
  loop.run_one();
  kept.set_pause(anonymous, *kinds.find("compress"), true);
  kept.set_pause(anonymous, *kinds.find("compress"), false);
  const auto fresh = post_kept("/jobs/compress");
  EXPECT_EQ(anonymous.waiting.find(fresh), nullptr);
}

}  // namespace
}  // namespace heistd
