#include <heistd/job_store.hpp>
#include <iterator>
#include <utility>

namespace heistd {
namespace {

/// What a finished job takes besides itself and its result: its counters, its places in the store,
/// its id's strings, and what the allocator adds to each of these.
constexpr std::size_t record_bytes = 640;

bool is_asked_for(const Job& job, const JobQuery& query) noexcept {
  return (!query.state || job.state() == *query.state) &&
         (query.kind.empty() || job.kind.name == query.kind) &&
         (query.signal_name.empty() || job.signal_name == query.signal_name);
}

}  // namespace

JobState Job::state() const noexcept {
  if (end_) return end_->state;
  if (group && group->deleted()) return JobState::aborted;
  if (progress->queue_delay()) return JobState::running;
  return Clock::now() < runnable_at ? JobState::delayed : JobState::queued;
}

void Job::note_attempts(const StoredJob& stored) {
  attempts = {stored.attempt, stored.forgiven, stored.max_attempts};
  if (!stored.error || !unfinished) return;
  unfinished->last_failure =
      std::make_unique<const JobFailure>(stored.error->code, stored.error->message);
}

std::size_t Job::kept_bytes() const noexcept {
  const auto result_bytes = end_ && end_->result ? heistd::kept_bytes(*end_->result) : 0;
  return sizeof *this + record_bytes + request_id.capacity() + signal_name.capacity() +
         after.capacity() + result_bytes;
}

void JobStore::add(std::shared_ptr<Job> job) {
  auto& entry = jobs_[job->id];
  try {
    if (job->order > 0) ordered_.emplace_hint(ordered_.end(), job->order, job);
    job->place_ = unfinished_.insert(unfinished_.end(), job);
  } catch (...) {
    erase(*job);
    throw;
  }
  entry = std::move(job);
}

void JobStore::forget(Job& job) noexcept {
  const auto found = jobs_.find(job.id);
  if (found == jobs_.end()) return;
  unfinished_.erase(job.place_);
  erase(job);
}

void JobStore::erase(const Job& job) noexcept {
  ordered_.erase(job.order);
  jobs_.erase(job.id);
}

std::shared_ptr<Job> JobStore::find(const JobId& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : found->second;
}

void JobStore::finish(Job& job, Job::End end) {
  const auto stays = *job.place_;  // though making room may drop it
  job.end_ = std::move(end);
  job.unfinished.reset();
  finished_.splice(finished_.end(), unfinished_, job.place_);
  result_bytes_ += job.kept_bytes();
  make_room();
  for (const auto& tell : job.on_finished) tell();
}

void JobStore::drop(const Job& job) {
  result_bytes_ -= job.kept_bytes();
  const auto stays = *job.place_;
  finished_.erase(job.place_);
  erase(job);
}

void JobStore::drop_older_half() {
  const auto jobs = finished_.size() / 2;
  const auto bytes = result_bytes_ / 2;
  while (!finished_.empty() && (finished_.size() > jobs || result_bytes_ > bytes)) {
    drop(*finished_.front());
  }
}

JobPage<std::shared_ptr<const Job>> JobStore::list(const JobQuery& query) const {
  JobPage<std::shared_ptr<const Job>> page;
  auto left = most_looked_at;
  for (auto place = ordered_.upper_bound(query.after); place != ordered_.end(); ++place) {
    if (left-- == 0 || page.jobs.size() == query.most) {
      page.last = std::prev(place)->first;
      break;
    }
    if (is_asked_for(*place->second, query)) page.jobs.push_back(place->second);
  }
  return page;
}

void JobStore::make_room() {
  while (finished_.size() > 1 &&
         (finished_.size() > max_results_ || result_bytes_ > max_result_bytes_)) {
    drop(*finished_.front());
  }
}

}  // namespace heistd
