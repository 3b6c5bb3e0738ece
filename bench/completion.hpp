// Completion: counts the tasks of one run and checks that each ran.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace bench {

/// Only the worker adds, so the count needs no read-modify-write; the measuring thread waits for
/// the last.
class Completion {
 public:
  using Clock = std::chrono::steady_clock;

  /// Payloads of 1 each.
  explicit Completion(std::int64_t expected) noexcept
      : Completion(expected, static_cast<std::uint64_t>(expected)) {}
  Completion(std::int64_t expected, std::uint64_t expected_sum) noexcept
      : expected_(expected), expected_sum_(expected_sum) {}

  /// True when this was the last task.
  bool add(std::uint64_t payload) noexcept {
    sum_ += payload;
    const auto count = count_.load(std::memory_order_relaxed) + 1;
    const bool last = count == expected_;
    if (last) ended_ = Clock::now();
    count_.store(count, std::memory_order_release);  // the last use of this object
    return last;
  }

  /// Waits for the last task and checks the sum of the payloads. It sleeps, so as to leave the
  /// processors to what is measured: measure until ended(), not until it returns.
  void wait() const noexcept {
    for (int looks = 0; count_.load(std::memory_order_acquire) != expected_; ++looks) {
      if (looks < 10) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
    if (sum_ == expected_sum_) return;
    std::fprintf(stderr, "wrong sum: %llu instead of %llu\n", static_cast<unsigned long long>(sum_),
                 static_cast<unsigned long long>(expected_sum_));
    std::abort();
  }

  /// When the last task ran. After wait().
  [[nodiscard]] Clock::time_point ended() const noexcept { return ended_; }

 private:
  std::int64_t expected_;
  std::uint64_t expected_sum_;
  std::uint64_t sum_ = 0;
  Clock::time_point ended_;
  std::atomic<std::int64_t> count_{0};
};

}  // namespace bench
