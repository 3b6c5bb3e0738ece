// Baseline: a mutex around a vector that the worker swaps out whole; notified only when it was
// empty.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

class MutexSwapSubject {
 public:
  static constexpr const char* name = "mutex_swap";
  template <class F>
  void post(F&& f) {
    bool was_empty = false;
    {
      const std::lock_guard lock(mutex_);
      was_empty = queue_.empty();
      queue_.emplace_back(std::forward<F>(f));
    }
    if (was_empty) wake_.notify_one();
  }
  ~MutexSwapSubject() {
    post([this] { stop_ = true; });
    thread_.join();
  }

 private:
  void run() {
    std::vector<std::function<void()>> batch;
    while (!stop_) {
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return !queue_.empty(); });
        batch.swap(queue_);
      }
      for (auto& task : batch) task();
      batch.clear();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::function<void()>> queue_;
  bool stop_ = false;
  std::thread thread_{[this] { run(); }};
};

}  // namespace bench
