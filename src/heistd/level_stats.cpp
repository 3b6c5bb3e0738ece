#include <algorithm>
#include <boost/histogram/indexed.hpp>
#include <cmath>
#include <heistd/level_stats.hpp>

namespace heistd {

using std::chrono::nanoseconds;

void DurationHistogram::add(nanoseconds duration) {
  histogram_(static_cast<double>(duration.count()));
  max_ = std::max(max_, duration);
  ++count_;
}

nanoseconds DurationHistogram::quantile(double share) const {
  const auto wanted = std::max(1.0, std::ceil(share * static_cast<double>(count_)));
  double seen = 0;
  for (const auto& bin : boost::histogram::indexed(histogram_, boost::histogram::coverage::all)) {
    seen += static_cast<double>(*bin);
    // The last bin has no upper end but the largest duration.
    if (seen >= wanted)
      return nanoseconds(
          std::llround(std::min<double>(bin.bin(0).upper(), static_cast<double>(max_.count()))));
  }
  return max_;
}

}  // namespace heistd
