// PoolCompletion: a Completion for tasks that several workers run.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace bench {

/// Each worker counts in a part of its own, so that counting moves no cache line between them; the
/// measuring thread adds the parts up.
class PoolCompletion {
 public:
  using Clock = std::chrono::steady_clock;

  /// Payloads of 1 each.
  explicit PoolCompletion(std::int64_t expected) noexcept
      : PoolCompletion(expected, static_cast<std::uint64_t>(expected)) {}
  PoolCompletion(std::int64_t expected, std::uint64_t expected_sum) noexcept
      : expected_(expected), expected_sum_(expected_sum) {}

  void add(std::uint64_t payload) noexcept {
    Part& part = parts_[part_of_this_thread()];
    part.sum += payload;
    part.count.store(part.count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  /// Waits for the last task and checks the sum of the payloads. It sleeps, so as to leave the
  /// processors to what is measured, and so sees the end up to a sleep late, some 0.1 ms.
  void wait() noexcept {
    while (count() != expected_) std::this_thread::sleep_for(std::chrono::microseconds(20));
    ended_ = Clock::now();
    if (sum() == expected_sum_) return;
    std::fprintf(stderr, "wrong sum: %llu instead of %llu\n",
                 static_cast<unsigned long long>(sum()),
                 static_cast<unsigned long long>(expected_sum_));
    std::abort();
  }

  /// When wait() saw that the last task had run. After wait().
  [[nodiscard]] Clock::time_point ended() const noexcept { return ended_; }

 private:
  /// More threads than any subject has.
  static constexpr std::size_t most_threads = 16;

  struct alignas(64) Part {
    std::atomic<std::int64_t> count{0};
    std::uint64_t sum = 0;
  };

  static std::size_t part_of_this_thread() noexcept {
    static std::atomic<std::size_t> threads{0};
    thread_local const std::size_t number = threads.fetch_add(1);
    if (number >= most_threads) std::abort();
    return number;
  }
  [[nodiscard]] std::int64_t count() const noexcept {
    std::int64_t all = 0;
    for (const Part& part : parts_) all += part.count.load(std::memory_order_acquire);
    return all;
  }
  /// After count() saw the last.
  [[nodiscard]] std::uint64_t sum() const noexcept {
    std::uint64_t all = 0;
    for (const Part& part : parts_) all += part.sum;
    return all;
  }

  std::int64_t expected_;
  std::uint64_t expected_sum_;
  Clock::time_point ended_;
  std::array<Part, most_threads> parts_;
};

}  // namespace bench
