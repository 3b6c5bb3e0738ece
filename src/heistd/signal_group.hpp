// SignalGroups: the signal names of one client.
#pragma once

#include <cstddef>
#include <functional>
#include <heist/sync.hpp>
#include <heist/task_signal.hpp>
#include <heistd/job_counts.hpp>
#include <heistd/limits.hpp>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace heistd {

class Job;

/// Jobs of one signal name that are aborted in one step: few enough that the step is short.
struct JobBatch {
  static constexpr std::size_t max_jobs = 64;
  static constexpr std::size_t max_bytes = 16 * mib;  ///< one larger job is alone

  explicit JobBatch(heist::TaskPriority priority) : controller(priority) {}
  heist::TaskController controller;
  std::list<Job*> jobs;  ///< the unfinished ones
  std::size_t bytes = 0;
};

/// What a signal name stands for: jobs that are aborted and re-prioritised together, in batches.
///
/// Thread: the network's, but for deleted().
class SignalGroup {
 public:
  explicit SignalGroup(heist::TaskPriority priority) : priority_(priority) {}

  /// A batch with room for one more job.   Errors: std::bad_alloc.
  [[nodiscard]] std::shared_ptr<JobBatch> batch_for(std::size_t bytes);
  /// Forgets the batch when it is empty.
  void batch_left(const std::shared_ptr<JobBatch>& batch);
  [[nodiscard]] const std::list<std::shared_ptr<JobBatch>>& batches() const noexcept {
    return batches_;
  }

  [[nodiscard]] heist::TaskPriority priority() const noexcept { return priority_; }
  /// Cost: of one set_priority for each batch.
  void set_priority(heist::TaskPriority priority);

  /// From now on its jobs are aborted ones, though telling all of them takes a while.
  void set_deleted() noexcept { deleted_.store(true, heist::sync::relaxed); }
  /// Thread: any.
  [[nodiscard]] bool deleted() const noexcept {
    return deleted_.load(heist::sync::relaxed);  // relaxed: a chunk more or less
  }

  /// Of its jobs without a priority of their own.
  const std::shared_ptr<JobCounts> counts = std::make_shared<JobCounts>();
  std::size_t unfinished_jobs = 0;
  bool was_put = false;  ///< asked for by name, so it stays while it has no jobs

 private:
  heist::TaskPriority priority_;
  std::list<std::shared_ptr<JobBatch>> batches_;
  heist::sync::atomic<bool> deleted_{false};
};

/// The signal names of one client; another client's equal names are other signals.
///
/// A name that jobs merely mentioned lives as long as unfinished ones do; one that was put, until it is
/// deleted.   Thread: the network's.
class SignalGroups {
 public:
  using Map = std::map<std::string, std::shared_ptr<SignalGroup>, std::less<>>;

  explicit SignalGroups(std::size_t max_names) noexcept : max_names_(max_names) {}

  /// The group of this name, or null.
  [[nodiscard]] std::shared_ptr<SignalGroup> find(std::string_view name) const;

  /// The group of this name, made with the given priority if need be; null when there are too many.
  [[nodiscard]] std::shared_ptr<SignalGroup> find_or_make(std::string_view name,
                                                          heist::TaskPriority priority);

  /// Frees the name; who holds the group keeps it.
  void erase(std::string_view name);

  /// Frees the name if nothing needs it any more.
  void drop_unused(std::string_view name, const SignalGroup& group);

  [[nodiscard]] const Map& all() const noexcept { return groups_; }

 private:
  std::size_t max_names_;
  Map groups_;
};

}  // namespace heistd
