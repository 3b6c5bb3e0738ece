// LogHistogram: counts values of any size in little memory.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace heist::stress {

/// Each value below 64 has a class of its own. The class of a larger one is at most a 32nd of it
/// wide.   Thread: one.
class LogHistogram {
 public:
  void add(std::uint64_t value) noexcept {
    ++counts_[index_of(value)];
    ++total_;
    max_ = std::max(max_, value);
  }

  void add(const LogHistogram& other) noexcept {
    for (std::size_t index = 0; index < counts_.size(); ++index) {
      counts_[index] += other.counts_[index];
    }
    total_ += other.total_;
    max_ = std::max(max_, other.max_);
  }

  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  [[nodiscard]] std::uint64_t max() const noexcept { return max_; }

  /// The largest value of the first class up to which at least `share` of the values lie. It is 0
  /// when there are no values.
  [[nodiscard]] std::uint64_t quantile(double share) const noexcept {
    const double wanted = share * static_cast<double>(total_);
    std::uint64_t seen = 0;
    for (std::size_t index = 0; index < counts_.size(); ++index) {
      seen += counts_[index];
      if (seen != 0 && static_cast<double>(seen) >= wanted) return std::min(max_, last_of(index));
    }
    return max_;
  }

  /// Calls `sink(largest value, count)` for each class that has values, in order.
  template <class Sink>
  void for_each(Sink&& sink) const {
    for (std::size_t index = 0; index < counts_.size(); ++index) {
      if (counts_[index] != 0) sink(std::min(max_, last_of(index)), counts_[index]);
    }
  }

 private:
  static constexpr std::size_t steps = 32;  ///< the classes in each power of two

  static std::size_t index_of(std::uint64_t value) noexcept {
    if (value < 2 * steps) return value;
    const auto shift = static_cast<std::size_t>(std::bit_width(value)) - 6;
    return shift * steps + static_cast<std::size_t>(value >> shift);
  }
  static std::uint64_t last_of(std::size_t index) noexcept {
    if (index < 2 * steps) return index;
    const std::size_t shift = index / steps - 1;
    const std::uint64_t first = std::uint64_t{index % steps + steps} << shift;
    return first + ((std::uint64_t{1} << shift) - 1);
  }

  std::array<std::uint64_t, 60 * steps> counts_{};
  std::uint64_t total_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace heist::stress
