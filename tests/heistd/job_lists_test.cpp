// Lists of a client's jobs, without a journal.
#include <gmock/gmock.h>

#include <vector>

#include "api_fixture.hpp"

namespace heistd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class JobLists : public ApiFixture {
 protected:
  /// The paths of the jobs in a part of a list.
  static std::vector<std::string> paths(const Json& list) {
    std::vector<std::string> found;
    for (const auto& job : list["jobs"]) found.push_back(job["links"]["self"]);
    return found;
  }
  Json list(const std::string& query = "") {
    const auto answer = call("GET", "/jobs" + query);
    EXPECT_EQ(answer.status, 200U) << answer.body;
    return answer.json();
  }
};

TEST_F(JobLists, list_then_all_jobs_come_in_the_order_of_acceptance) {
  const auto first = post("/jobs/compress?priority=background");
  const auto second = post("/jobs/digest?priority=user-blocking&signal=night");
  run_one();
  const auto all = list();
  EXPECT_THAT(paths(all), ElementsAre(first, second));
  EXPECT_FALSE(all.contains("cursor"));
  const auto& job = all["jobs"][1];
  EXPECT_EQ(job["kind"], "digest");
  EXPECT_EQ(job["state"], "done");
  EXPECT_EQ(job["priority"], "user-blocking");
  EXPECT_EQ(job["signal"], "night");
  EXPECT_EQ(job["bytes"], 5);
}

TEST_F(JobLists, list_when_jobs_are_asked_for_by_what_they_are_then_no_others_come) {
  const auto later = post("/jobs/compress?delay=1000&signal=a");
  const auto done = post("/jobs/digest?signal=b&priority=user-blocking");
  run_one();
  const auto waits = post("/jobs/digest?signal=a");
  const auto gone = post("/jobs/digest");
  call("DELETE", gone);
  EXPECT_THAT(paths(list("?state=delayed")), ElementsAre(later));
  EXPECT_THAT(paths(list("?state=done")), ElementsAre(done));
  EXPECT_THAT(paths(list("?state=queued")), ElementsAre(waits));
  EXPECT_THAT(paths(list("?state=aborted")), ElementsAre(gone));
  EXPECT_THAT(paths(list("?state=dead")), IsEmpty());
  EXPECT_THAT(paths(list("?kind=compress")), ElementsAre(later));
  EXPECT_THAT(paths(list("?signal=a")), ElementsAre(later, waits));
  EXPECT_THAT(paths(list("?signal=a&kind=digest&state=queued")), ElementsAre(waits));
}

TEST_F(JobLists, list_when_longer_than_its_limit_then_the_cursor_goes_on_whatever_has_gone) {
  std::vector<std::string> jobs;
  for (int job = 0; job < 5; ++job) jobs.push_back(post("/jobs/digest"));
  auto part = list("?limit=2");
  EXPECT_THAT(paths(part), ElementsAre(jobs[0], jobs[1]));
  for (const auto& job : {jobs[0], jobs[1]}) {
    call("DELETE", job);
    call("DELETE", job);
  }
  part = list("?limit=2&cursor=" + std::string(part["cursor"]));
  EXPECT_THAT(paths(part), ElementsAre(jobs[2], jobs[3]));
  part = list("?limit=2&cursor=" + std::string(part["cursor"]));
  EXPECT_THAT(paths(part), ElementsAre(jobs[4]));
  EXPECT_FALSE(part.contains("cursor"));
}

TEST_F(JobLists,
       list_when_few_of_many_are_asked_for_then_a_part_looks_at_some_and_the_next_goes_on) {
  for (std::size_t job = 0; job < most_looked_at; ++job) post("/jobs/digest", "");
  const auto last = post("/jobs/compress", "");
  const auto part = list("?kind=compress");
  EXPECT_THAT(paths(part), IsEmpty());
  const auto rest = list("?kind=compress&cursor=" + std::string(part["cursor"]));
  EXPECT_THAT(paths(rest), ElementsAre(last));
}

// Rule: SEC-1
TEST_F(JobLists, list_then_the_jobs_of_other_clients_are_not_there) {
  post("/jobs/digest");
  authorization = "Bearer a";
  EXPECT_THAT(paths(list()), IsEmpty());
  const auto mine = post("/jobs/digest");
  EXPECT_THAT(paths(list()), ElementsAre(mine));
}

TEST_F(JobLists, list_when_a_parameter_is_wrong_then_400_names_it) {
  for (const std::string query :
       {"state=lost", "limit=0", "limit=101", "cursor=7", "signal=a%20b", "priority=background"}) {
    const auto refused = call("GET", "/jobs?" + query);
    EXPECT_EQ(refused.status, 400U) << query;
    EXPECT_EQ(refused.field(), query.substr(0, query.find('='))) << query;
  }
}

TEST_F(JobLists, requeue_when_the_job_is_not_dead_then_409_and_404_for_none) {
  const auto job = post("/jobs/digest");
  const auto refused = call("POST", job + "/requeue");
  EXPECT_EQ(refused.status, 409U);
  EXPECT_EQ(refused.error(), "not_dead");
  EXPECT_EQ(call("POST", "/jobs/" + std::string(32, 'a') + "/requeue").status, 404U);
}

}  // namespace
}  // namespace heistd
