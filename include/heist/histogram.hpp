// Histogram: how many times were how long, as metrics report them.
#pragma once

#include <cstdint>
#include <heist/detail/durations.hpp>
#include <heist/detail/export.hpp>
#include <heist/version.hpp>
#include <utility>
#include <vector>

namespace HEIST_NAMESPACE {

/// A distribution of times, in buckets of which none is wider than an eighth of its times, but for
/// the first, of at most 32 ns, and the last, of times above a quarter of an hour. It is a copy of
/// what was counted when it was made.
///
/// Thread: any, one at a time.
class HEIST_EXPORT Histogram {
 public:
  /// How many of the times lie from one length to another.
  struct Bucket {
    std::chrono::nanoseconds from;  ///< the shortest time that belongs here
    std::chrono::nanoseconds to;    ///< all its times are shorter
    std::uint64_t count = 0;        ///< how many times belong here

    friend bool operator==(const Bucket&, const Bucket&) noexcept = default;
  };

  Histogram() noexcept = default;
  /// Buckets that rise and do not overlap, and the sum of all times.
  Histogram(std::vector<Bucket> buckets, std::chrono::nanoseconds sum) noexcept
      : buckets_(std::move(buckets)), sum_(sum) {}

  /// How many times were measured.
  [[nodiscard]] std::uint64_t count() const noexcept;
  /// The sum of these times.
  [[nodiscard]] std::chrono::nanoseconds sum() const noexcept { return sum_; }
  /// The time that this share of all did not exceed, rounded up to the end of its bucket; zero when
  /// none was measured. With 1 it is the longest.
  ///
  /// Errors: std::invalid_argument for a share that is not from 0 to 1.
  [[nodiscard]] std::chrono::nanoseconds quantile(double share) const;
  /// The buckets that are not empty, the shortest times first.
  [[nodiscard]] const std::vector<Bucket>& buckets() const noexcept { return buckets_; }

 private:
  std::vector<Bucket> buckets_;
  std::chrono::nanoseconds sum_{};
};

}  // namespace HEIST_NAMESPACE
