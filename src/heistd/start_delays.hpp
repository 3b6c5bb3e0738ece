// StartDelays: how long jobs had waited when they started, as metrics report it.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <iterator>

namespace heistd {

/// The bounds of all histograms in metrics, from a microsecond to ten minutes: a time below is as
/// good as none, and one above is a fault.
inline constexpr std::array<std::chrono::nanoseconds, 25> metric_bounds = [] {
  std::array<std::chrono::nanoseconds, 25> bounds{};
  std::size_t next = 0;
  for (std::int64_t decade = 1'000; decade < 1'000'000'000; decade *= 10) {
    for (const auto quarters : {4, 10, 20}) {
      bounds[next++] = std::chrono::nanoseconds(decade * quarters / 4);
    }
  }
  for (const auto milliseconds : {1000, 2500, 5000, 10'000, 30'000, 60'000, 600'000}) {
    bounds[next++] = std::chrono::milliseconds(milliseconds);
  }
  return bounds;
}();

/// Counts the starts of one client's jobs of one priority as they come, so that what runs for long
/// counts with what it has waited before it ends.
///
/// Thread: any.   Cost: of add(), two writes; of look(), a step for each bound.
class StartDelays {
 public:
  /// What was counted, as of nearly one time.
  struct Counts {
    /// A time counts at the first bound that it does not exceed; the last number is of all others.
    std::array<std::uint64_t, metric_bounds.size() + 1> starts{};
    std::chrono::nanoseconds sum{};
  };

  void add(std::chrono::nanoseconds delay) noexcept {
    const auto* const bound = std::ranges::lower_bound(metric_bounds, delay);
    const auto place = std::next(starts_.begin(), std::distance(metric_bounds.begin(), bound));
    // relaxed, also below: the numbers are all that is passed on.
    sum_.fetch_add(delay.count(), heist::detail::sync::relaxed);
    place->fetch_add(1, heist::detail::sync::relaxed);
  }
  [[nodiscard]] Counts look() const noexcept {
    Counts counts;
    std::ranges::transform(starts_, counts.starts.begin(), [](const auto& starts) {
      return starts.load(heist::detail::sync::relaxed);
    });
    counts.sum = std::chrono::nanoseconds(sum_.load(heist::detail::sync::relaxed));
    return counts;
  }

 private:
  std::array<heist::detail::sync::atomic<std::uint64_t>, metric_bounds.size() + 1> starts_{};
  heist::detail::sync::atomic<std::int64_t> sum_{0};
};

}  // namespace heistd
