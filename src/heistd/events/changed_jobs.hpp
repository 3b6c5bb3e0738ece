// ChangedJobs: of which jobs agents have seen something new.
#pragma once

#include <cstddef>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace heistd {

class Job;

/// Collects the jobs of one client that have started, or got on, while somebody listens, until the
/// network looks at what they are at. Each of them stands here once, so that what agents report
/// often is told now and then.
///
/// Thread: note() on any, the others on the network's.   Blocks: for as long as another thread
///         appends one job, or exchanges two vectors.   Memory: its room is made in listen().
class ChangedJobs {
 public:
  static constexpr std::size_t most = 1024;
  using Jobs = std::vector<std::weak_ptr<const Job>>;
  /// In which round a job was noted last.
  using Round = std::uint64_t;

  /// Room for as many jobs as are noted at a time.   Errors: std::bad_alloc.
  [[nodiscard]] static Jobs make_room() {
    Jobs room;
    room.reserve(most);
    return room;
  }

  /// Somebody listens.
  void listen(Jobs room) noexcept {
    static_cast<void>(exchange(room));
    // relaxed, here and below: of a job that starts as somebody begins to listen, the start may be
    // missed. What jobs are at is read under the lock's order.
    heard_.store(true, heist::detail::sync::relaxed);
  }
  /// Nobody listens any more.
  void stop() noexcept {
    heard_.store(false, heist::detail::sync::relaxed);
    Jobs none;
    static_cast<void>(exchange(none));
  }
  [[nodiscard]] bool is_heard() const noexcept { return heard_.load(heist::detail::sync::relaxed); }

  /// Something of the job is new; `noted_in` is the job's own, and zero at first.
  void note(const std::weak_ptr<const Job>& job, Round& noted_in) noexcept {
    const std::lock_guard lock(mutex_);
    if (std::exchange(noted_in, round_) == round_) return;
    if (jobs_.size() < jobs_.capacity()) {
      jobs_.push_back(job);
    } else {
      overflowed_ = true;
    }
  }

  /// Gives the jobs that were noted since the last call, in exchange for room; false when there was
  /// not enough of that.
  [[nodiscard]] bool exchange(Jobs& jobs) noexcept {
    const std::lock_guard lock(mutex_);
    std::swap(jobs_, jobs);
    ++round_;
    return !std::exchange(overflowed_, false);
  }

 private:
  heist::detail::sync::atomic<bool> heard_{false};
  std::mutex mutex_;
  Jobs jobs_;
  Round round_ = 1;
  bool overflowed_ = false;
};

}  // namespace heistd
