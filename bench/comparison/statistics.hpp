// Statistics: medians, and how sure one may be of a median.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench {

/// Errors: of an empty span, NaN.
[[nodiscard]] double median(std::span<const double> values);

/// The value below which that share of the values lies (nearest rank). The span is not empty.
[[nodiscard]] double percentile(std::vector<double> values, double share);

/// Between which two order statistics the true median lies, whatever the distribution: the k-th
/// smallest and the k-th largest of n values miss it with probability 2 P(Binomial(n, 1/2) < k).
struct MedianRank {
  std::size_t rank = 0;  ///< k - 1: an index from either end
  double coverage = 0;   ///< what is left of that probability
};

/// The narrowest pair that covers at least 95 %; the extremes where no pair does. n is at least 1.
[[nodiscard]] MedianRank median_rank(std::size_t n);

struct Interval {
  double median = 0;
  double low = 0;
  double high = 0;
  double coverage = 0;
};

/// Median of the ratios of values measured in the same round, with its interval.
/// Both spans have one value for each round.
[[nodiscard]] Interval paired_ratio(std::span<const double> values, std::span<const double> others);

}  // namespace bench
