// Completion: counts the tasks of one run and checks that each ran.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace bench {

/// Only the worker adds, so the count needs no read-modify-write; the measuring thread waits for
/// the last.
class Completion {
 public:
  explicit Completion(std::int64_t expected) noexcept : expected_(expected) {}

  /// True when this was the last task.
  bool add(std::uint64_t payload) noexcept {
    sum_ += payload;
    const auto count = count_.load(std::memory_order_relaxed) + 1;
    const bool last = count == expected_;
    count_.store(count, std::memory_order_release);  // the last use of this object
    return last;
  }

  /// Waits for the last task and checks the sum of the payloads, which are 1 each.
  void wait() noexcept {
    while (count_.load(std::memory_order_acquire) != expected_) std::this_thread::yield();
    if (sum_ == static_cast<std::uint64_t>(expected_)) return;
    std::fprintf(stderr, "wrong sum: %llu of %lld\n", static_cast<unsigned long long>(sum_),
                 static_cast<long long>(expected_));
    std::abort();
  }

 private:
  std::int64_t expected_;
  std::uint64_t sum_ = 0;
  std::atomic<std::int64_t> count_{0};
};

}  // namespace bench
