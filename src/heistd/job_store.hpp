// JobStore: the jobs of one client.
#pragma once

#include <cstddef>
#include <heistd/job.hpp>
#include <heistd/job_query.hpp>
#include <list>
#include <map>
#include <memory>
#include <unordered_map>

namespace heistd {

/// The jobs of one client: the unfinished ones, and the newest of the finished ones.
///
/// Thread: the network's.
class JobStore {
 public:
  JobStore(std::size_t max_results, std::size_t max_result_bytes) noexcept
      : max_results_(max_results), max_result_bytes_(max_result_bytes) {}

  /// Errors: std::bad_alloc; nothing changed.
  void add(std::shared_ptr<Job> job);
  /// Takes an unfinished job out, as if it had never been there.
  void forget(Job& job) noexcept;
  [[nodiscard]] std::shared_ptr<Job> find(const JobId& id) const;

  /// Ends a job and tells who waits for it; the oldest finished ones make room, the newest always
  /// stays. Needs no memory.
  void finish(Job& job, Job::End end);

  /// Drops a finished job.
  void drop(const Job& job);
  /// Drops the older half of the finished ones, or of what they take, whatever is more.
  void drop_older_half();

  /// The order of the next job that has one.
  [[nodiscard]] AcceptanceOrder next_order() noexcept { return ++last_order_; }
  /// A part of the list of those that have an order.   Errors: std::bad_alloc.
  [[nodiscard]] JobPage<std::shared_ptr<const Job>> list(const JobQuery& query) const;

  [[nodiscard]] const std::list<std::shared_ptr<Job>>& unfinished() const noexcept {
    return unfinished_;
  }

  /// Whether a further finished job is to be kept beside so many, whose results have so many bytes.
  [[nodiscard]] bool has_room_for(std::size_t jobs, std::size_t bytes) const noexcept {
    return jobs < max_results_ && bytes < max_result_bytes_;
  }

  /// Memory that all finished jobs take.
  [[nodiscard]] std::size_t result_bytes() const noexcept { return result_bytes_; }

 private:
  void make_room();
  void erase(const Job& job) noexcept;

  const std::size_t max_results_;
  const std::size_t max_result_bytes_;
  std::unordered_map<JobId, std::shared_ptr<Job>> jobs_;
  std::map<AcceptanceOrder, std::shared_ptr<const Job>> ordered_;
  AcceptanceOrder last_order_ = 0;
  std::list<std::shared_ptr<Job>> unfinished_;
  std::list<std::shared_ptr<Job>> finished_;  ///< oldest first
  std::size_t result_bytes_ = 0;
};

}  // namespace heistd
