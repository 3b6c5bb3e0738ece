#include <algorithm>
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
  const auto& axis = histogram_.axis();
  double seen = 0;
  // From the bin of what is too short to the last regular one; what is too long has no end but max_.
  for (int bin = -1; bin < axis.size(); ++bin) {
    seen += static_cast<double>(histogram_.at(bin));
    const auto end = nanoseconds(std::llround(axis.value(bin + 1)));
    if (seen >= wanted) return std::min(end, max_);
  }
  return max_;
}

}  // namespace heistd
