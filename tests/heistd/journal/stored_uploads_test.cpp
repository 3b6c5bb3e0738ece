// What uploads of unfinished jobs may take of the disk.
#include <gtest/gtest.h>

#include <algorithm>
#include <heistd/job_restore.hpp>
#include <string>
#include <utility>

#include "kept_jobs_fixture.hpp"

namespace heistd {
namespace {

class StoredUploads : public KeptJobs {
 protected:
  StoredUploads() : KeptJobs({.max_stored_uploads = 100}) {}

  Answer post_bytes(std::size_t bytes, const std::string& query = "?delay=60000") {
    return ask("POST", "/jobs/digest" + query, std::string(bytes, 'x'));
  }
  JobId posted(std::size_t bytes, const std::string& query = "?delay=60000") {
    return post_bytes(bytes, query).header("Location").substr(6);
  }
  std::size_t stored_bytes() const { return anonymous.budget->stored_bytes(); }
};

TEST_F(StoredUploads, post_when_the_disk_s_share_is_used_up_then_refused_until_a_job_is_gone) {
  const auto id = posted(70);
  EXPECT_EQ(stored_bytes(), 70U);
  RequestHead head{"POST", "/jobs/digest", authorization, 31U, false};
  const auto refused = answer(std::get<Reply>(heistd::begin(kept_api, head)));
  EXPECT_EQ(refused.status, 503U);
  EXPECT_EQ(refused.error(), "queue_full");
  EXPECT_NE(refused.header("Retry-After"), "");
  EXPECT_EQ(post_bytes(30).status, 202U);
  EXPECT_EQ(stored_bytes(), 100U);
  ask("DELETE", "/jobs/" + id);
  EXPECT_EQ(stored_bytes(), 30U);
  EXPECT_EQ(post_bytes(31).status, 202U);
}

TEST_F(StoredUploads, run_then_an_upload_counts_until_its_job_has_ended) {
  posted(60, "");
  posted(40, "?signal=s");
  EXPECT_EQ(stored_bytes(), 100U);
  run_kept();
  EXPECT_EQ(stored_bytes(), 0U);
}

TEST_F(StoredUploads, run_when_jobs_wait_as_records_then_their_uploads_count_until_they_end) {
  for (int jobs = 0; jobs < 100; ++jobs) EXPECT_EQ(post_bytes(1, "").status, 202U);
  EXPECT_GT(anonymous.waiting.size(), 0U);
  EXPECT_EQ(stored_bytes(), 100U);
  std::size_t least = 100;
  while (clients.unfinished_jobs() > 0) {
    run_all();
    least = std::min(least, stored_bytes());
    EXPECT_EQ(stored_bytes(), said(journal.count_unfinished()));
  }
  EXPECT_EQ(least, 0U);
}

TEST_F(StoredUploads, post_when_a_signal_is_deleted_then_the_uploads_of_its_jobs_count_no_more) {
  posted(60, "?signal=night&delay=60000");
  ask("DELETE", "/signals/night");
  run_network();
  EXPECT_EQ(stored_bytes(), 0U);
}

TEST_F(StoredUploads, ttl_when_the_journal_cannot_have_the_end_of_a_record_then_its_upload_counts) {
  ask("POST", "/kinds/digest/pause");
  const auto id = posted(70, "?ttl=1");
  ASSERT_NE(anonymous.waiting.find(id), nullptr);
  journal.fails = 1;
  while (anonymous.waiting.find(id) != nullptr) run_network();
  ASSERT_EQ(stored(id).state, StoredState::queued);
  EXPECT_EQ(stored_bytes(), 70U);
  while (stored_bytes() > 0) run_network();
  EXPECT_EQ(stored(id).state, StoredState::aborted);
}

TEST_F(StoredUploads, ttl_when_somebody_waits_for_such_a_record_then_its_upload_counts_as_well) {
  ask("POST", "/kinds/digest/pause");
  const auto outcome = begin("POST", "/jobs/digest?ttl=1&wait=1", std::string(70, 'x'));
  run_network();
  const auto waiting = std::get<Waiting>(std::get<Storing>(outcome).then());
  ASSERT_NE(anonymous.waiting.find(waiting.job->id), nullptr);
  journal.fails = 1;
  while (anonymous.waiting.find(waiting.job->id) != nullptr) run_network();
  ASSERT_FALSE(waiting.job->finished());
  EXPECT_EQ(stored_bytes(), 70U);
  while (!waiting.job->finished()) run_network();
  EXPECT_EQ(stored_bytes(), 0U);
}

TEST_F(StoredUploads, restore_then_uploads_that_are_there_count_however_many) {
  posted(60);
  posted(40, "");
  auto fewer = limits;
  fewer.max_stored_uploads = 50;
  ClientTable others({}, heist::TaskPriority::user_blocking, fewer);
  auto& other = **others.authenticate(std::nullopt);
  JobService next(loop.scheduler(), network.get_executor(), &keeper);
  restore_jobs(next, others, kinds);
  EXPECT_EQ(other.budget->stored_bytes(), 100U);
  run_network();
  EXPECT_EQ(other.budget->stored_bytes(), 100U);
  Api next_api{kinds, others, next, observer, limits};
  RequestHead head{"POST", "/jobs/digest", authorization, 1U, false};
  EXPECT_EQ(std::get<Reply>(heistd::begin(next_api, head)).status, 503U);
}

TEST_F(StoredUploads, requeue_when_the_disk_s_share_is_used_up_then_the_job_stays_dead) {
  auto job = new_job(1, std::string(50, 'x'));
  job.client = "anonymous";
  const auto dead = job.id;
  said(journal.submit(std::move(job)));
  said(journal.start(dead, any_priority));
  said(journal.fail(dead, first_attempt, {"broken", "It broke."}, milliseconds(0)));
  const auto waits = posted(51);
  EXPECT_EQ(ask("POST", "/jobs/" + dead + "/requeue").error(), "queue_full");
  EXPECT_EQ(stored(dead).state, StoredState::dead);
  ask("DELETE", "/jobs/" + waits);
  EXPECT_EQ(ask("POST", "/jobs/" + dead + "/requeue").status, 202U);
  EXPECT_EQ(stored_bytes(), 50U);
  run_kept();
  EXPECT_EQ(stored_bytes(), 0U);
}

}  // namespace
}  // namespace heistd
