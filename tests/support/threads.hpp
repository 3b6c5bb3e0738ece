// Threads that take turns, so that several threads do things in an order that the test decides.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace heist::support {

using namespace detail;

/// Runs `work()` on a thread of its own and waits for its end.
template <class Work>
void on_thread(Work work) {
  std::thread(std::move(work)).join();
}

/// Returns once `condition()` holds. It is for what only a counter shows; otherwise prefer a Gate.
template <class Condition>
void wait_until(Condition condition) {
  while (!condition()) std::this_thread::yield();
}

/// Opens once, for everybody.   Thread: any.
class Gate {
 public:
  void open() {
    open_.store(true);
    open_.notify_all();
  }
  void wait() const { open_.wait(false); }
  [[nodiscard]] bool is_open() const { return open_.load(); }

 private:
  std::atomic<bool> open_{false};
};

/// A thread that does one piece of work at a time, while its owner waits. Unlike on_thread(), it is
/// the same thread each time. Each piece happens after the one before, on whatever Worker that ran.
class Worker {
 public:
  Worker() : thread_([this] { serve(); }) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    run(nullptr);
    thread_.join();
  }

  /// Runs `work()` on the worker's thread, and returns after that. An empty `work` ends the thread.
  void run(std::function<void()> work) {
    std::unique_lock lock(mutex_);
    work_ = std::move(work);
    has_work_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !has_work_; });
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (bool more = true; more;) {
      changed_.wait(lock, [this] { return has_work_; });
      more = static_cast<bool>(work_);
      if (more) std::exchange(work_, nullptr)();
      has_work_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  bool has_work_ = false;
  std::thread thread_;
};

}  // namespace heist::support
