// HeldJobs: the jobs that this server has claimed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <heistd/journal/job_record.hpp>
#include <heistd/postgresql/postgres_date.hpp>
#include <string>
#include <unordered_map>
#include <vector>

namespace heistd {

/// A claimed job, and where the database has it.
struct HeldJob {
  PostgresDate day;
  std::int64_t place = 0;
  std::int32_t lane = 0;
  Attempt attempt = 0;
  bool is_started = false;
  bool is_ending = false;  ///< its end was asked for, maybe with an answer that was lost
};

/// Thread: one at a time.
class HeldJobs {
 public:
  /// Errors: std::bad_alloc.
  void add(const JobId& id, const HeldJob& job) { jobs_.insert_or_assign(id, job); }
  void remove(const JobId& id, Attempt attempt) noexcept {
    if (find(id, attempt) != nullptr) jobs_.erase(id);
  }
  /// Whatever its attempt is.
  void remove(const JobId& id) noexcept { jobs_.erase(id); }
  void clear() noexcept { jobs_.clear(); }

  /// From now on it counts among the jobs of that lane, if it is held.
  void note_lane(const JobId& id, std::int32_t lane) noexcept {
    if (const auto found = jobs_.find(id); found != jobs_.end()) found->second.lane = lane;
  }

  /// Null when this is not the attempt that the server has claimed.
  [[nodiscard]] HeldJob* find(const JobId& id, Attempt attempt) noexcept {
    const auto found = jobs_.find(id);
    return found != jobs_.end() && found->second.attempt == attempt ? &found->second : nullptr;
  }

  [[nodiscard]] const std::unordered_map<JobId, HeldJob>& all() const noexcept { return jobs_; }

  /// Forgets those that are not among these, and says which they were; not those that are ending,
  /// which may have ended.   Errors: std::bad_alloc.
  [[nodiscard]] std::vector<JobId> keep_only(const std::unordered_map<JobId, Attempt>& known) {
    std::vector<JobId> forgotten;
    for (const auto& [id, job] : jobs_) {
      const auto found = known.find(id);
      const bool is_known = found != known.end() && found->second == job.attempt;
      if (!is_known && !job.is_ending) forgotten.push_back(id);
    }
    for (const auto& id : forgotten) jobs_.erase(id);
    return forgotten;
  }

  /// Each lane as often as a held job has it.   Errors: std::bad_alloc.
  [[nodiscard]] std::vector<std::int32_t> lanes() const {
    std::vector<std::int32_t> lanes;
    lanes.reserve(jobs_.size());
    for (const auto& [id, job] : jobs_) lanes.push_back(job.lane);
    return lanes;
  }

 private:
  std::unordered_map<JobId, HeldJob> jobs_;
};

}  // namespace heistd
