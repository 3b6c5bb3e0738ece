// Trace: what happened in a test, in order.
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace heist::support {

/// Labels in the order in which they were added.   Thread: any.
class Trace {
 public:
  void add(std::string label) {
    const std::lock_guard lock(mutex_);
    labels_.push_back(std::move(label));
  }

  /// Returns everything that was added so far. The trace is empty afterwards.
  [[nodiscard]] std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(labels_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> labels_;
};

}  // namespace heist::support
