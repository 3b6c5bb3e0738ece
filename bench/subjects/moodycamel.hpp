// moodycamel::BlockingConcurrentQueue: a queue of callables between threads, which its README names
// for pools of threads ("Threadpool work queue"). A consumer token is what it advises for each
// consumer; a producer token would need the producer to be known, and posts come from any thread.
#pragma once

#include <concurrentqueue/blockingconcurrentqueue.h>

#include <array>
#include <cstddef>
#include <functional>
#include <thread>
#include <utility>

namespace bench {

/// Waits as the queue does by default: it looks 10 000 times, then sleeps.
template <std::size_t threads>
class Moodycamel {
 public:
  static constexpr const char* name = "moodycamel";
  Moodycamel() {
    for (auto& thread : threads_) thread = std::thread([this] { run(); });
  }
  Moodycamel(const Moodycamel&) = delete;
  Moodycamel& operator=(const Moodycamel&) = delete;
  ~Moodycamel() {
    for (std::size_t i = 0; i < threads; ++i) queue_.enqueue(nullptr);
    for (auto& thread : threads_) thread.join();
  }
  template <class F>
  void post(F&& f) {
    queue_.enqueue(std::forward<F>(f));
  }

 private:
  using Task = std::function<void()>;

  /// Until a task that is none.
  void run() {
    moodycamel::ConsumerToken token(queue_);
    Task task;
    for (queue_.wait_dequeue(token, task); task; queue_.wait_dequeue(token, task)) task();
  }

  moodycamel::BlockingConcurrentQueue<Task> queue_;
  std::array<std::thread, threads> threads_;
};

}  // namespace bench
