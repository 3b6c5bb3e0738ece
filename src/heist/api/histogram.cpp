#include <cmath>
#include <heist/histogram.hpp>
#include <stdexcept>
#include <string>

namespace HEIST_NAMESPACE {

std::uint64_t Histogram::count() const noexcept {
  std::uint64_t count = 0;
  for (const Bucket& bucket : buckets_) count += bucket.count;
  return count;
}

std::chrono::nanoseconds Histogram::quantile(double share) const {
  const bool is_share = share >= 0 && share <= 1;  // which no NaN is
  if (!is_share) {
    throw std::invalid_argument("Histogram::quantile: " + std::to_string(share) +
                                " is no share: it is to be from 0 to 1");
  }
  const double wanted = std::ceil(share * static_cast<double>(count()));
  double passed = 0;
  for (const Bucket& bucket : buckets_) {
    passed += static_cast<double>(bucket.count);
    if (passed >= wanted) return bucket.to;
  }
  return {};
}

}  // namespace HEIST_NAMESPACE
