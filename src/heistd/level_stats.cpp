#include <algorithm>
#include <cmath>
#include <heistd/level_stats.hpp>
#include <span>

namespace heistd {

using std::chrono::nanoseconds;

// The histogram throws only when it gets more or fewer arguments than it has axes.
// NOLINTNEXTLINE(bugprone-exception-escape)
void DurationHistogram::add(nanoseconds duration) noexcept {
  histogram_(static_cast<double>(duration.count()));
  max_ = std::max(max_, duration);
  ++count_;
}

void DurationHistogram::clear() noexcept {
  histogram_.reset();
  max_ = {};
  count_ = 0;
}

nanoseconds DurationHistogram::quantile(double share) const {
  const auto wanted = std::max(1.0, std::ceil(share * static_cast<double>(count_)));
  const auto& axis = histogram_.axis();
  double seen = 0;
  // From the bin of what is too short to the last regular one; what is too long has no end but
  // max_.
  int bin = -1;
  for (const auto count :
       std::span(histogram_.begin(), static_cast<std::size_t>(axis.size()) + 1)) {
    seen += static_cast<double>(count);
    if (seen >= wanted) return std::min(nanoseconds(std::llround(axis.value(bin + 1))), max_);
    ++bin;
  }
  return max_;
}

}  // namespace heistd
