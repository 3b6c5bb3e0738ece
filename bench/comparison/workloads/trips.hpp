// Trips: the times of round trips, in microseconds.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

class Trips {
 public:
  /// Trips at the start that are made but not looked at.
  static constexpr std::int64_t warm_up = 8;

  explicit Trips(std::int64_t count) : total_(count + warm_up) {
    times_.reserve(std::size_t(total_));
  }
  [[nodiscard]] std::int64_t total() const noexcept { return total_; }
  [[nodiscard]] bool complete() const noexcept { return std::int64_t(times_.size()) == total_; }
  void begin() noexcept { began_ = Clock::now(); }
  void end() {
    times_.push_back(std::chrono::duration<double, std::micro>(Clock::now() - began_).count());
  }
  [[nodiscard]] std::vector<double> measured() const {
    return {times_.begin() + warm_up, times_.end()};
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::int64_t total_;
  std::vector<double> times_;
  Clock::time_point began_;
};

}  // namespace bench
