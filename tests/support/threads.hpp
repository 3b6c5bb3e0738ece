// Threads that take turns: what several threads do in a test, in an order the test decides.
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

/// Returns once `condition()` holds. For what only a counter shows; prefer a Gate.
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

/// A thread that does one piece of work at a time, while its owner waits: the same thread each
/// time, unlike on_thread(). Each piece happens after the one before, on whatever Worker that ran.
class Worker {
 public:
  Worker() : thread_([this] { serve(); }) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    run(nullptr);
    thread_.join();
  }

  /// Runs `work()` on the worker's thread; returns when it has. An empty one ends the thread.
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
