// Baseline: a mutex, a deque of std::function, a condition variable.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace bench {

template <std::size_t threads>
class MutexDeque {
 public:
  static constexpr const char* name = "mutex_deque";
  MutexDeque() {
    for (auto& thread : threads_) thread = std::thread([this] { run(); });
  }
  MutexDeque(const MutexDeque&) = delete;
  MutexDeque& operator=(const MutexDeque&) = delete;
  ~MutexDeque() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  template <class F>
  void post(F&& f) {
    {
      const std::lock_guard lock(mutex_);
      queue_.emplace_back(std::forward<F>(f));
    }
    wake_.notify_one();
  }

 private:
  void run() {
    while (true) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stop_ || !queue_.empty(); });
      if (queue_.empty()) return;
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
  std::array<std::thread, threads> threads_;
};
using MutexDequeSubject = MutexDeque<1>;

}  // namespace bench
