#include <algorithm>
#include <cmath>
#include <heistd/level_stats.hpp>
#include <span>
#include <utility>

namespace heistd {

using std::chrono::nanoseconds;

// The histogram throws only when it gets more or fewer arguments than it has axes.
// NOLINTNEXTLINE(bugprone-exception-escape)
void DurationHistogram::add(nanoseconds duration) noexcept {
  histogram_(static_cast<double>(duration.count()));
  max_ = std::max(max_, duration);
  sum_ += std::min(duration, nanoseconds::max() - sum_);  // it holds 292 years of all jobs together
  ++count_;
}

void DurationHistogram::clear() noexcept {
  histogram_.reset();
  max_ = {};
  sum_ = {};
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

heist::Histogram DurationHistogram::for_metrics() const {
  std::vector<heist::Histogram::Bucket> buckets;
  const auto& axis = histogram_.axis();
  const auto end = std::min(max_, nanoseconds::max() - nanoseconds(1)) + nanoseconds(1);
  nanoseconds from{};
  int bin = 0;  // whose beginning is the end of what is counted here
  for (const auto count : histogram_) {
    const bool has_no_end = bin > axis.size();
    const auto to = has_no_end ? end : nanoseconds(std::llround(axis.value(bin)));
    if (count > 0) buckets.push_back({from, to, count});
    from = to;
    ++bin;
  }
  return {std::move(buckets), sum_};
}

}  // namespace heistd
