#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bench {

namespace {

constexpr double wanted_coverage = 0.95;

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> result(values.begin(), values.end());
  std::ranges::sort(result);
  return result;
}

}  // namespace

double median(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto in_order = sorted(values);
  const auto middle = in_order.size() / 2;
  if (in_order.size() % 2 == 1) return in_order[middle];
  return (in_order[middle - 1] + in_order[middle]) / 2;
}

double percentile(std::vector<double> values, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * double(values.size())));
  const auto wanted = values.begin() + std::ptrdiff_t(std::max<std::size_t>(rank, 1)) - 1;
  std::ranges::nth_element(values, wanted);
  return *wanted;
}

MedianRank median_rank(std::size_t n) {
  double exactly = std::pow(0.5, double(n));  // P(Binomial(n, 1/2) = rank)
  double missed = 2 * exactly;
  MedianRank result{0, 1 - missed};
  for (std::size_t rank = 1; 2 * rank + 1 < n; ++rank) {
    exactly *= double(n - rank + 1) / double(rank);
    missed += 2 * exactly;
    if (1 - missed < wanted_coverage) break;
    result = {rank, 1 - missed};
  }
  return result;
}

Interval paired_ratio(std::span<const double> values, std::span<const double> others) {
  std::vector<double> ratios(values.size());
  std::ranges::transform(values, others, ratios.begin(), std::divides<>());
  ratios = sorted(ratios);
  const auto [rank, coverage] = median_rank(ratios.size());
  return {median(ratios), ratios[rank], ratios[ratios.size() - 1 - rank], coverage};
}

}  // namespace bench
