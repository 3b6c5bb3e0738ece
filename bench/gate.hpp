// Gate: holds a subject's worker inside a task, so that what is posted meanwhile queues up.
#pragma once

#include <atomic>
#include <thread>

namespace bench {

class Gate {
 public:
  /// Returns once the worker stands at the gate.
  template <class Subject>
  explicit Gate(Subject& subject) {
    subject.post([this] { hold(); });
    wait_for(reached_);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  void open() noexcept { opened_.store(true, std::memory_order_release); }
  /// The worker has gone: only then may the gate.
  ~Gate() { wait_for(left_); }

 private:
  /// Spins, so that what is measured from open() on has no wake-up in it.
  void hold() noexcept {
    reached_.store(true, std::memory_order_release);
    wait_for(opened_);
    left_.store(true, std::memory_order_release);
  }
  static void wait_for(const std::atomic<bool>& flag) noexcept {
    while (!flag.load(std::memory_order_acquire)) std::this_thread::yield();
  }

  std::atomic<bool> reached_{false};
  std::atomic<bool> opened_{false};
  std::atomic<bool> left_{false};
};

}  // namespace bench
