// Baseline: two threads, a mutex, a condition variable, and a deque for each of the two urgencies.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace bench {

class MutexUrgencies {
 public:
  static constexpr const char* name = "mutex_deques";
  MutexUrgencies() {
    for (auto& thread : threads_) thread = std::thread([this] { run(); });
  }
  MutexUrgencies(const MutexUrgencies&) = delete;
  MutexUrgencies& operator=(const MutexUrgencies&) = delete;
  ~MutexUrgencies() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  template <class F>
  void post_urgent(F&& f) {
    urgent_tasks_.fetch_add(1, std::memory_order_relaxed);
    post(urgent_, std::forward<F>(f));
  }
  template <class F>
  void post_background(F&& f) {
    post(background_, std::forward<F>(f));
  }
  /// Called within a background task that polls: runs what is urgent there and then.
  void run_urgent() {
    while (urgent_tasks_.load(std::memory_order_relaxed) != 0) {
      std::unique_lock lock(mutex_);
      if (urgent_.empty()) return;
      run_first(urgent_, lock);
    }
  }

 private:
  using Queue = std::deque<std::function<void()>>;

  template <class F>
  void post(Queue& queue, F&& f) {
    {
      const std::lock_guard lock(mutex_);
      queue.emplace_back(std::forward<F>(f));
    }
    wake_.notify_one();
  }
  void run() {
    while (true) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stop_ || !urgent_.empty() || !background_.empty(); });
      Queue& queue = urgent_.empty() ? background_ : urgent_;
      if (queue.empty()) return;
      run_first(queue, lock);
    }
  }
  void run_first(Queue& queue, std::unique_lock<std::mutex>& lock) {
    if (&queue == &urgent_) urgent_tasks_.fetch_sub(1, std::memory_order_relaxed);
    const auto task = std::move(queue.front());
    queue.pop_front();
    lock.unlock();
    task();
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  Queue urgent_;
  Queue background_;
  std::atomic<std::size_t> urgent_tasks_{0};
  bool stop_ = false;
  std::array<std::thread, 2> threads_;
};

}  // namespace bench
