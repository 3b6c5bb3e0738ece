// How dead jobs are queued again.
#include <heistd/job_service.hpp>
#include <heistd/job_summary.hpp>
#include <new>
#include <utility>

namespace heistd {

/// All that a requeue takes is made before the journal is asked.
JobJournal::Answer<JobJournal::Effect> JobService::requeue(Client& client, const Kind& kind,
                                                           const StoredJob& dead,
                                                           Budget::Ticket room) {
  RequeuedJobs job;
  job.push_back({client, kind, queued_anew(dead), std::move(room), {}});
  const auto answer = job.front().answer.emplace(keeper_->journal().requeue(dead.id));
  unheard_.splice(unheard_.end(), job);
  restore_requeued();
  return answer;
}

/// Without memory for that the job stays where it is.
void JobService::hear_of_requeue(RequeuedJobs::iterator job) noexcept {
  try {
    keeper_->when(*job->answer, [this, job](const JournalResult<JobJournal::Effect>& effect) {
      on_requeue(job, effect);
    });
    requeuing_.splice(requeuing_.end(), unheard_, job);
  } catch (const std::bad_alloc&) {
    return;
  }
}

void JobService::on_requeue(RequeuedJobs::iterator job,
                            const JournalResult<JobJournal::Effect>& effect) noexcept {
  if (!effect || *effect != JobJournal::Effect::stored) {
    requeuing_.erase(job);
    return;
  }
  Client& client = job->client;
  try {
    client.events.job_changed(summary_of(job->job, client));
  } catch (const std::bad_alloc&) {
    client.events.missed();
  }
  if (is_shared()) {
    requeuing_.erase(job);
    return tell_claimable();
  }
  requeued_.splice(requeued_.end(), requeuing_, job);
  post_waiting(client);
}

void JobService::restore_requeued() noexcept {
  for (auto next = unheard_.begin(); next != unheard_.end();) hear_of_requeue(next++);
  std::erase_if(requeued_, [this](const auto& requeued) { return restore(requeued); });
  const auto& left = unheard_.empty() ? requeued_ : unheard_;
  if (!left.empty()) wake_soon(left.front().client);
}

/// False when there is no memory for that now.
bool JobService::restore(const Requeued& requeued) noexcept {
  const auto& [client, kind, stored, room, answer] = requeued;
  try {
    if (const auto known = client.jobs.find(stored.id)) {
      if (!known->finished()) return true;  // it has died again, and is about to hear of that
      client.jobs.drop(*known);
    }
    if (!shutting_down()) restore(client, kind, stored);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace heistd
