// SignalGroups: the signal names of one client.
#pragma once

#include <cstddef>
#include <functional>
#include <heist/task_signal.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace heistd {

/// What a signal name stands for: jobs that are aborted and re-prioritised together.
struct SignalGroup {
  explicit SignalGroup(heist::TaskPriority priority) : controller(priority) {}
  heist::TaskController controller;
  std::size_t unfinished_jobs = 0;
  bool was_put = false;  ///< asked for by name, so it stays while it has no jobs
};

/// The signal names of one client; another client's equal names are other signals.
///
/// A name that jobs merely mentioned lives as long as unfinished ones do; one that was put, until it is
/// deleted.   Thread: the network's.
class SignalGroups {
 public:
  explicit SignalGroups(std::size_t max_names) noexcept : max_names_(max_names) {}

  /// The group of this name, or null.
  [[nodiscard]] std::shared_ptr<SignalGroup> find(std::string_view name) const;

  /// The group of this name, made with the given priority if need be; null when there are too many.
  [[nodiscard]] std::shared_ptr<SignalGroup> find_or_make(std::string_view name,
                                                          heist::TaskPriority priority);

  /// Frees the name; who holds the group keeps it.
  void erase(std::string_view name);

  /// A job of this group has finished.
  void job_finished(std::string_view name, SignalGroup& group);

 private:
  std::size_t max_names_;
  std::map<std::string, std::shared_ptr<SignalGroup>, std::less<>> groups_;
};

}  // namespace heistd
