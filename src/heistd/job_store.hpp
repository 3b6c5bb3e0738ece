// JobStore: the jobs of one client.
#pragma once

#include <cstddef>
#include <heistd/job.hpp>
#include <list>
#include <memory>
#include <string_view>
#include <unordered_map>

namespace heistd {

/// The jobs of one client: the unfinished ones, and the newest of the finished ones.
///
/// Thread: the network's.
class JobStore {
 public:
  JobStore(std::size_t max_results, std::size_t max_result_bytes) noexcept
      : max_results_(max_results), max_result_bytes_(max_result_bytes) {}

  void add(std::shared_ptr<Job> job);
  [[nodiscard]] std::shared_ptr<Job> find(const JobId& id) const;

  /// Ends a job and tells who waits for it; the oldest finished ones make room, the newest always stays.
  void finish(const std::shared_ptr<Job>& job, Job::End end);

  /// Drops a finished job.
  void drop(const std::shared_ptr<Job>& job);

  [[nodiscard]] const std::unordered_map<JobId, std::shared_ptr<Job>>& unfinished() const noexcept {
    return unfinished_;
  }

 private:
  static std::size_t size_of(const Job& job) noexcept;
  void make_room();

  const std::size_t max_results_;
  const std::size_t max_result_bytes_;
  std::unordered_map<JobId, std::shared_ptr<Job>> unfinished_;
  std::unordered_map<JobId, std::shared_ptr<Job>> finished_;
  std::list<std::shared_ptr<Job>> by_age_;  ///< the finished ones, oldest first
  std::size_t result_bytes_ = 0;
};

}  // namespace heistd
