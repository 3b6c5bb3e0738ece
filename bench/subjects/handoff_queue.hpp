// HandoffQueue: what users of libuv and libevent put beside the loop's wake-up, as those have no
// queue of their own.
#pragma once

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace bench {

class HandoffQueue {
 public:
  /// True when it was empty: then, and only then, the loop must be woken.
  template <class F>
  [[nodiscard]] bool push(F&& f) {
    const std::lock_guard lock(mutex_);
    queue_.emplace_back(std::forward<F>(f));
    return queue_.size() == 1;
  }
  /// The loop's thread: runs what is there, and what comes meanwhile, which spares wake-ups. After
  /// some turns it leaves the rest to the next wake-up, so that the loop gets its turn.
  void run() {
    for (int turn = 0; turn < most_turns && take(); ++turn) {
      for (auto& task : batch_) task();
      batch_.clear();
    }
  }

 private:
  static constexpr int most_turns = 64;

  /// False when there is nothing.
  [[nodiscard]] bool take() {
    const std::lock_guard lock(mutex_);
    batch_.swap(queue_);
    return !batch_.empty();
  }

  std::mutex mutex_;
  std::vector<std::function<void()>> queue_;
  std::vector<std::function<void()>> batch_;
};

}  // namespace bench
