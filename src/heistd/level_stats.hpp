// LevelStats: how long jobs of one priority waited and ran.
#pragma once

#include <boost/histogram/axis/regular.hpp>
#include <boost/histogram/histogram.hpp>
#include <boost/histogram/storage_adaptor.hpp>
#include <chrono>
#include <cstdint>
#include <heist/histogram.hpp>
#include <tuple>
#include <vector>

namespace heistd {

/// Distribution of durations from 0.1 µs to 1000 s, in steps of 2.3 %.
class DurationHistogram {
 public:
  void add(std::chrono::nanoseconds duration) noexcept;
  /// As if nothing had been added.
  void clear() noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::chrono::nanoseconds max() const noexcept { return max_; }

  /// The smallest duration that the given share (0..1) of all do not exceed, rounded up to a step;
  /// zero when there are none.
  [[nodiscard]] std::chrono::nanoseconds quantile(double share) const;

  /// The same as metrics report it.   Cost: a thousand steps.   Errors: std::bad_alloc.
  [[nodiscard]] heist::Histogram for_metrics() const;

 private:
  using Axis = boost::histogram::axis::regular<double, boost::histogram::axis::transform::log>;
  using Histogram =
      boost::histogram::histogram<std::tuple<Axis>,
                                  boost::histogram::storage_adaptor<std::vector<std::uint64_t>>>;

  Histogram histogram_{std::make_tuple(Axis(1000, 1e2, 1e12))};
  std::uint64_t count_ = 0;
  std::chrono::nanoseconds max_{};
  std::chrono::nanoseconds sum_{};
};

/// Of the jobs that started at one priority.
struct LevelStats {
  DurationHistogram queue_delay;  ///< of each attempt, from runnable to the first chunk's start
  DurationHistogram run_time;     ///< all chunks together, of jobs that were done
  std::chrono::nanoseconds longest_chunk{};
  std::uint64_t chunks = 0;
  std::uint64_t done = 0;
  std::uint64_t failed = 0;  ///< for good, but dead ones
  std::uint64_t dead = 0;
  std::uint64_t retried = 0;  ///< attempts that failed, and that others followed
  std::uint64_t aborted = 0;
};

}  // namespace heistd
