// OwnHistogram: counts how long things took. One thread counts, and any thread may read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/detail/log_linear.hpp>
#include <heist/detail/sync.hpp>

namespace HEIST_NAMESPACE::detail {

/// What several OwnHistograms have counted together, in the unit in which they count.
struct CountedTimes {
  std::array<std::uint64_t, log_linear::bucket_count> buckets{};
  std::uint64_t sum = 0;
};

// Roles   owner: counts, without read-modify-writes.  reader: any thread; it sees about what was
//         counted a moment ago, and perhaps not all of one time.
// Progress  wait-free. All is relaxed: these are statistics, which guard no data.
class OwnHistogram {
 public:
  /// Called by the owner.
  void count(std::uint64_t value) noexcept {
    add(buckets_[log_linear::bucket_of(value) % kept_buckets], 1);
    add(sum_, value);
  }
  /// Called by any thread.
  void add_to(CountedTimes& times) const noexcept {
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      times.buckets[i] += buckets_[i].load(sync::relaxed);  // relaxed: a statistic.
    }
    times.sum += sum_.load(sync::relaxed);  // relaxed: a statistic.
  }

 private:
  using Number = sync::atomic<std::uint64_t>;

#if defined(HEIST_MODEL)
  /// Models make many loops, and an atomic costs them as much as a step. None looks at a time.
  static constexpr std::size_t kept_buckets = 1;
#else
  static constexpr std::size_t kept_buckets = log_linear::bucket_count;
#endif

  static void add(Number& to, std::uint64_t value) noexcept {
    // relaxed, both: a statistic with one writer.
    to.store(to.load(sync::relaxed) + value, sync::relaxed);
  }

  std::array<Number, kept_buckets> buckets_{};
  Number sum_{0};
};

}  // namespace HEIST_NAMESPACE::detail
