// UnclaimedJobs: what a server has accepted and not claimed, which is for others.
#pragma once

#include <heistd/journal/job_record.hpp>
#include <new>
#include <set>
#include <utility>

namespace heistd {

/// Of the jobs that a server has accepted since its last claim: those that this claim has left.
///
/// Thread: one at a time, and one claim at a time.
class UnclaimedJobs {
 public:
  /// One that waits for nothing but its turn. Without memory for that it is not here.
  void add(const JobId& id) noexcept {
    try {
      new_.insert(id);
    } catch (const std::bad_alloc&) {
      return;
    }
  }
  void remove(const JobId& id) noexcept {
    new_.erase(id);
    asked_for_.erase(id);
  }
  void clear() noexcept {
    new_.clear();
    asked_for_.clear();
  }

  void begin_claim() noexcept { asked_for_.merge(new_); }
  /// What it has brought is removed: whether it has left some, which are forgotten.
  [[nodiscard]] bool end_claim() noexcept { return !std::exchange(asked_for_, {}).empty(); }

 private:
  std::set<JobId> new_;
  std::set<JobId> asked_for_;
};

}  // namespace heistd
