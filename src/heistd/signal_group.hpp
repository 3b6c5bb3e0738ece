// SignalGroups: the signal names of one client.
#pragma once

#include <cstddef>
#include <functional>
#include <heist/detail/sync.hpp>
#include <heist/priority.hpp>
#include <heistd/job_counts.hpp>
#include <heistd/pause.hpp>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace heistd {

class Job;

/// How many jobs one step of the network thread aborts, or gives another priority: few enough that
/// the step is short.
inline constexpr std::size_t jobs_at_a_time = 64;

/// What a signal name stands for: jobs that are aborted and re-prioritised together. Each of them
/// has a signal of its own, so that one can be aborted, and leaves the agents' queues, without the
/// others.
///
/// Thread: the network's, but for deleted().
class SignalGroup {
 public:
  using Jobs = std::list<Job*>;

  explicit SignalGroup(heist::TaskPriority priority) : priority_(priority) {}

  /// Errors: std::bad_alloc.
  [[nodiscard]] Jobs::iterator add(Job& job) { return jobs_.insert(jobs_.end(), &job); }
  void remove(Jobs::iterator place) noexcept {
    if (to_follow_ == place) ++to_follow_;
    jobs_.erase(place);
  }
  /// The unfinished ones that have a Job, oldest first.
  [[nodiscard]] const Jobs& jobs() const noexcept { return jobs_; }

  /// With those of which there is a record only.
  [[nodiscard]] std::size_t unfinished() const noexcept { return jobs_.size() + waiting; }

  [[nodiscard]] heist::TaskPriority priority() const noexcept { return priority_; }
  /// Jobs that come from now on have it, and the others follow as follow_some() says so.
  void set_priority(heist::TaskPriority priority) noexcept {
    priority_ = priority;
    to_follow_ = jobs_.begin();
  }
  /// A batch of jobs gets the group's priority, the oldest first, so that they keep their order.
  /// True: others are left, be it as there was no memory.
  [[nodiscard]] bool follow_some() noexcept;

  /// From now on its jobs are aborted ones, though telling all of them takes a while.
  void set_deleted() noexcept { deleted_.store(true, heist::detail::sync::relaxed); }
  /// Thread: any.
  [[nodiscard]] bool deleted() const noexcept {
    return deleted_.load(heist::detail::sync::relaxed);  // relaxed: a chunk more or less
  }

  /// Of its jobs without a priority of their own.
  const std::shared_ptr<JobCounts> counts = std::make_shared<JobCounts>();
  Pause pause;                ///< of its jobs
  std::size_t waiting = 0;    ///< unfinished jobs of which there is only a WaitingJobs' record
  bool was_put = false;       ///< asked for by name, so it stays while it has no jobs
  bool is_following = false;  ///< a later step is on its way that calls follow_some()

 private:
  heist::TaskPriority priority_;
  Jobs jobs_;
  Jobs::iterator to_follow_ = jobs_.end();  ///< the first whose priority may be another one
  heist::detail::sync::atomic<bool> deleted_{false};
};

/// The signal names of one client; another client's equal names are other signals.
///
/// A name that jobs merely mentioned lives as long as unfinished ones do; one that was put, until
/// it is deleted.
///
/// Thread: the network's.
class SignalGroups {
 public:
  using Map = std::map<std::string, std::shared_ptr<SignalGroup>, std::less<>>;

  explicit SignalGroups(std::size_t max_names) noexcept : max_names_(max_names) {}

  /// The group of this name, or null.
  [[nodiscard]] std::shared_ptr<SignalGroup> find(std::string_view name) const;

  /// The group of this name, made with the given priority if need be; null when there are too many.
  [[nodiscard]] std::shared_ptr<SignalGroup> find_or_make(std::string_view name,
                                                          heist::TaskPriority priority);

  /// Whether a group of this name is there, or can be made.
  [[nodiscard]] bool has_room_for(std::string_view name) const;

  /// find_or_make() for a name that was accepted before, however many there are.
  std::shared_ptr<SignalGroup> restore(std::string_view name, heist::TaskPriority priority);

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
