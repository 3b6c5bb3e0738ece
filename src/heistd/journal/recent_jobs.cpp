#include <heistd/journal/recent_jobs.hpp>
#include <new>
#include <utility>

namespace heistd {

void RecentJobs::add(const JobId& id, SharedBlocks upload) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    const auto bytes = upload ? held_bytes(*upload) : 0;
    Jobs job;
    job.push_back({id, std::move(upload), bytes});
    places_.emplace(id, job.begin());
    jobs_.splice(jobs_.end(), job);
    bytes_ += bytes;
  } catch (const std::bad_alloc&) {
    return;
  }
  while (jobs_.size() > most_jobs || bytes_ > most_bytes) erase(jobs_.begin());
}

std::optional<std::string> RecentJobs::take(const JobId& id) {
  const std::lock_guard lock(mutex_);
  const auto place = places_.find(id);
  if (place == places_.end()) return std::nullopt;
  std::string upload;
  if (const auto& blocks = place->second->upload) {
    upload.reserve(byte_count(*blocks));
    for (const auto& block : *blocks) upload += block;
  }
  erase(place->second);
  return upload;
}

void RecentJobs::remove(const JobId& id) noexcept {
  const std::lock_guard lock(mutex_);
  const auto place = places_.find(id);
  if (place != places_.end()) erase(place->second);
}

void RecentJobs::erase(Jobs::iterator job) noexcept {
  bytes_ -= job->bytes;
  places_.erase(job->id);
  jobs_.erase(job);
}

}  // namespace heistd
