// The runtimes under comparison behind one small interface: post a callable, arm a timer.
// Each runs its tasks on one worker thread, in its best documented configuration.
#pragma once

#include <oneapi/tbb/task_arena.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <deque>
#include <functional>
#include <heist/agent.hpp>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

/// Heist: one agent.
class HeistSubject {
 public:
  static constexpr const char* name = "heist";
  template <class F>
  void post(F&& f) {
    scheduler_.post(std::forward<F>(f));
  }

 private:
  heist::Agent agent_;
  heist::Scheduler scheduler_ = agent_.scheduler();
};

/// Boost.Asio: an io_context with concurrency hint 1 and one thread.
class AsioSubject {
 public:
  static constexpr const char* name = "asio_io_context";
  template <class F>
  void post(F&& f) {
    boost::asio::post(context_, std::forward<F>(f));
  }
  ~AsioSubject() {
    guard_.reset();
    thread_.join();
  }

 private:
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{
      context_.get_executor()};
  std::thread thread_{[this] { context_.run(); }};
};

/// oneTBB: an arena with one worker; the caller never works in it.
class TbbSubject {
 public:
  static constexpr const char* name = "tbb_enqueue";
  template <class F>
  void post(F&& f) {
    arena_.enqueue(std::forward<F>(f));
  }

 private:
  tbb::task_arena arena_{1, 0};
};

/// Baseline: a mutex, a deque of std::function, a condition variable.
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

/// Baseline: a mutex around a vector that the worker swaps out whole; notified only when it was
/// empty.
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
