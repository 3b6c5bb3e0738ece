// UrgentTasks: urgent tasks on a grid, and how late each of them starts.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "../../pool_completion.hpp"
#include "../run.hpp"
#include "../statistics.hpp"
#include "grid.hpp"

namespace bench {

inline constexpr std::int64_t urgent_samples = 15'000;  // 1e5 in seven rounds
inline constexpr std::chrono::microseconds urgent_interval(200);

/// A task for each point of a grid.
class UrgentTasks {
 public:
  explicit UrgentTasks(std::int64_t count, std::chrono::microseconds interval = urgent_interval)
      : interval_(interval),
        samples_(std::size_t(count)),
        started_(count, std::uint64_t(count) * std::uint64_t(count - 1) / 2) {}

  template <class Subject>
  void post_all(Subject& subject) {
    Grid grid(Clock::now() + settling, interval_);
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      grid.wait_for(std::int64_t(i));
      samples_[i].point = grid.point(std::int64_t(i));
      samples_[i].due = grid.due(std::int64_t(i));
      subject.post_urgent([this, i] { start(i); });
    }
    started_.wait();
  }
  /// Microseconds from when each task was due; or from its point.
  [[nodiscard]] std::vector<double> delays() const { return since(&Sample::due); }
  [[nodiscard]] std::vector<double> grid_delays() const { return since(&Sample::point); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds settling{20};

  struct Sample {
    Clock::time_point point;
    Clock::time_point due;
    Clock::time_point started;
  };

  void start(std::size_t index) noexcept {
    samples_[index].started = Clock::now();
    started_.add(index);
  }
  [[nodiscard]] std::vector<double> since(Clock::time_point Sample::* time) const {
    std::vector<double> result;
    for (const Sample& sample : samples_) {
      const std::chrono::duration<double, std::micro> delay = sample.started - sample.*time;
      if (delay.count() < 0) std::abort();
      result.push_back(delay.count());
    }
    return result;
  }

  std::chrono::microseconds interval_;
  std::vector<Sample> samples_;
  PoolCompletion started_;
};

/// Reports the median, and the 99th and the 99.9th percentile.
inline void report_tail(Run& run, const std::vector<double>& delays) {
  for (const double share : {0.5, 0.99, 0.999}) run.report(percentile(delays, share));
}

}  // namespace bench
