// For how long jobs wait, as metrics tell it.
#include <heistd/prometheus_text.hpp>
#include <heistd/turns.hpp>
#include <string>
#include <vector>

#include "kept_jobs_fixture.hpp"

namespace heistd {
namespace {

using heist::TaskPriority;

class LongestWaits : public KeptJobs {
 protected:
  std::chrono::nanoseconds longest(TaskPriority priority = TaskPriority::user_visible) {
    return anonymous.longest_waits().at(static_cast<std::size_t>(priority));
  }
  bool any_waits() { return longest().count() > 0; }
  /// A record of a job that became runnable an hour ago.
  std::shared_ptr<JobLine> add_old_record() {
    const auto& kind = *kinds.find("digest");
    auto line = anonymous.waiting.line_of("", nullptr, TaskPriority::user_visible,
                                          anonymous.counts_of(TaskPriority::user_visible), kind,
                                          anonymous.kind_pauses.of(kind));
    anonymous.waiting.add(make_job_id(), line, {Clock::now() - std::chrono::hours(1)});
    return line;
  }
};

TEST_F(LongestWaits, metrics_when_jobs_wait_then_the_oldest_counts_until_it_has_started) {
  post("/jobs/digest?signal=night");
  const auto first = longest();
  EXPECT_GT(first.count(), 0);
  post("/jobs/digest");
  EXPECT_GT(longest(), first);
  EXPECT_EQ(longest(TaskPriority::background).count(), 0);
  call("PUT", "/signals/night?priority=background");
  EXPECT_GT(longest(TaskPriority::background), first);
  run_all();
  EXPECT_FALSE(any_waits());
  EXPECT_EQ(longest(TaskPriority::background).count(), 0);
}

TEST_F(LongestWaits, metrics_when_a_job_is_delayed_or_paused_then_it_does_not_count) {
  post("/jobs/digest?delay=1000");
  EXPECT_FALSE(any_waits());
  post("/jobs/digest");
  EXPECT_TRUE(any_waits());
  call("POST", "/kinds/digest/pause");
  EXPECT_FALSE(any_waits());
  run_all();
  EXPECT_FALSE(any_waits());
  call("POST", "/kinds/digest/resume");
  EXPECT_TRUE(any_waits());
}

TEST_F(LongestWaits, metrics_when_a_journal_has_the_job_then_it_counts_until_its_start_is_counted) {
  const auto id = post_kept("/jobs/digest");
  EXPECT_TRUE(any_waits());
  loop.run_until_idle();
  EXPECT_TRUE(any_waits());
  run_network();
  EXPECT_FALSE(any_waits());
  run_kept();
  EXPECT_EQ(state_of(id), "done");
}

TEST_F(LongestWaits, metrics_when_there_is_only_a_record_of_the_job_then_it_counts_in_its_line) {
  const auto line = add_old_record();
  EXPECT_GE(longest(), std::chrono::hours(1));
  static_cast<void>(anonymous.waiting.take(*line));
  EXPECT_GE(longest(), std::chrono::hours(1)) << "it is being read";
  kept.set_pause(anonymous, *kinds.find("digest"), true);
  EXPECT_FALSE(any_waits());
}

TEST_F(LongestWaits, metrics_when_somebody_waits_for_a_job_without_a_turn_then_its_line_has_it) {
  post_many(WaitingJobs::most_posted + 1, "/jobs/digest?priority=background");
  const auto outcome = begin("POST", "/jobs/digest?priority=background&wait=1", "bytes");
  run_network();
  EXPECT_TRUE(std::holds_alternative<Waiting>(std::get<Storing>(outcome).then()));
  kept.set_pause(anonymous, *kinds.find("digest"), true);
  EXPECT_EQ(longest(TaskPriority::background).count(), 0);
}

TEST_F(LongestWaits, metrics_when_the_job_is_given_up_then_it_waits_no_more) {
  const auto id = post_kept("/jobs/digest");
  journal.fails = 1;
  kept.give_up(anonymous, *anonymous.jobs.find(id), "the test");
  EXPECT_FALSE(any_waits());
}

TEST_F(LongestWaits, metrics_when_asked_for_then_each_priority_of_each_client_is_there) {
  add_old_record();
  const auto text = prometheus_text({}, figures_of(clients, kinds, &keeper));
  const auto name = std::string("heistd_oldest_job_wait_seconds{client=\"");
  EXPECT_NE(text.find(name + "anonymous\",priority=\"user-visible\"} 36"), std::string::npos);
  EXPECT_NE(text.find(name + "anonymous\",priority=\"background\"} 0\n"), std::string::npos);
  EXPECT_NE(text.find(name + "alice\",priority=\"user-blocking\"} 0\n"), std::string::npos);
}

}  // namespace
}  // namespace heistd
