// Run: what a measurement gets to scale its work, to mark the measured part, and to report figures.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "counting/counters.hpp"

namespace bench {

class Run {
 public:
  explicit Run(double scale) noexcept : scale_(scale) {}

  /// That much work, or less of it when only checking that everything works.
  [[nodiscard]] std::int64_t scaled(std::int64_t count) const noexcept {
    const auto least = std::min<std::int64_t>(16, count);
    return std::max(least, static_cast<std::int64_t>(scale_ * double(count)));
  }

  /// The measured part, which may come in pieces. One thread at a time.
  void start() noexcept {
    counted_before_ = counted_so_far();
    started_ = Clock::now();
  }
  void stop(std::int64_t operations) noexcept { stop(operations, Clock::now()); }
  /// It ended earlier than this call.
  void stop(std::int64_t operations, std::chrono::steady_clock::time_point ended) noexcept {
    measured_ += ended - started_;
    operations_ += operations;
    if (const auto now = counted_so_far()) add(*now);
  }

  [[nodiscard]] double nanoseconds_per_operation() const noexcept {
    return std::chrono::duration<double, std::nano>(measured_).count() / double(operations_);
  }
  void report(double figure) { figures_.push_back(figure); }
  void report_time() { report(nanoseconds_per_operation()); }

  [[nodiscard]] const std::vector<double>& figures() const noexcept { return figures_; }
  [[nodiscard]] std::int64_t operations() const noexcept { return operations_; }
  [[nodiscard]] const Counters& counted() const noexcept { return counted_; }

 private:
  using Clock = std::chrono::steady_clock;

  void add(const Counters& now) noexcept {
    counted_.shared_updates += now.shared_updates - counted_before_->shared_updates;
    counted_.remote_lines += now.remote_lines - counted_before_->remote_lines;
    counted_.system_calls += now.system_calls - counted_before_->system_calls;
    counted_.allocations += now.allocations - counted_before_->allocations;
    counted_.nodes += now.nodes - counted_before_->nodes;
  }

  double scale_;
  Clock::time_point started_;
  Clock::duration measured_{};
  std::int64_t operations_ = 0;
  std::vector<double> figures_;
  std::optional<Counters> counted_before_;
  Counters counted_;
};

}  // namespace bench
