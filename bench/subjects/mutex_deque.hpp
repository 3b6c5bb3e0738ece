// Baseline: a mutex, a deque of std::function, a condition variable.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace bench {

class MutexDequeSubject {
 public:
  static constexpr const char* name = "mutex_deque";
  template <class F>
  void post(F&& f) {
    {
      const std::lock_guard lock(mutex_);
      queue_.emplace_back(std::forward<F>(f));
    }
    wake_.notify_one();
  }
  ~MutexDequeSubject() {
    post([this] { stop_ = true; });
    thread_.join();
  }

 private:
  void run() {
    while (!stop_) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return !queue_.empty(); });
      auto task = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  bool stop_ = false;
  std::thread thread_{[this] { run(); }};
};

}  // namespace bench
