#include <heistd/job_store.hpp>
#include <utility>

namespace heistd {

JobState Job::state() const noexcept {
  if (end_) return end_->state;
  if (progress->queue_delay()) return JobState::running;
  return Clock::now() < runnable_at ? JobState::delayed : JobState::queued;
}

void JobStore::add(std::shared_ptr<Job> job) {
  const auto& id = job->id;
  unfinished_.emplace(id, std::move(job));
}

std::shared_ptr<Job> JobStore::find(const JobId& id) const {
  for (const auto* jobs : {&unfinished_, &finished_}) {
    if (const auto found = jobs->find(id); found != jobs->end()) return found->second;
  }
  return nullptr;
}

void JobStore::finish(const std::shared_ptr<Job>& job, Job::End end) {
  job->end_ = std::move(end);
  finished_.insert(unfinished_.extract(job->id));
  job->place_ = by_age_.insert(by_age_.end(), job);
  result_bytes_ += size_of(*job);
  make_room();
  if (auto tell = std::exchange(job->on_finished, nullptr)) tell();
}

void JobStore::drop(const std::shared_ptr<Job>& job) {
  result_bytes_ -= size_of(*job);
  by_age_.erase(job->place_);
  finished_.erase(job->id);
}

std::size_t JobStore::size_of(const Job& job) noexcept {
  return job.end().result ? kept_bytes(*job.end().result) : 0;
}

void JobStore::make_room() {
  while (by_age_.size() > 1 &&
         (by_age_.size() > max_results_ || result_bytes_ > max_result_bytes_)) {
    const auto oldest = by_age_.front();
    drop(oldest);
  }
}

}  // namespace heistd
