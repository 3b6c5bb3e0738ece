#include <algorithm>
#include <heist/detail/slice_clock.hpp>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace HEIST_NAMESPACE::detail {

namespace {

/// Whether cycle_count() always counts at the same rate.
bool has_constant_rate() noexcept {
#if defined(__x86_64__)
  constexpr unsigned power_leaf = 0x80000007U;
  constexpr unsigned invariant_counter = 1U << 8U;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(power_leaf, &a, &b, &c, &d) != 0 && (d & invariant_counter) != 0;
#else
  return false;
#endif
}

}  // namespace

SliceClock::SliceClock(const CooperativeHost& host) noexcept
    : host_(host), has_counter_(host.is_real_time() && has_constant_rate()) {}

Milliseconds SliceClock::begin() noexcept {
  const std::uint64_t before = cycle_count();
  began_ = host_.now();
  if (!has_counter_) return began_;
  began_at_count_ = before;
  measure_rate(before, began_, cycle_count());
  trust_counter();
  return began_;
}

void SliceClock::set_interval(Milliseconds interval) noexcept {
  interval_ = interval;
  trust_counter();
}

bool SliceClock::ask_clock() const noexcept { return is_over_at(host_.now()); }

/// Measures from the beginning of one slice to that of another, over a millisecond to a second.
void SliceClock::measure_rate(std::uint64_t before, Milliseconds now,
                              std::uint64_t after) noexcept {
  constexpr Milliseconds shortest(1);
  constexpr Milliseconds longest(1000);
  const Milliseconds passed = now - first_time_;
  if (first_count_ != 0 && passed < shortest) return;
  const bool is_measured = first_count_ != 0 && before > first_count_;
  counts_per_ms_ = is_measured ? static_cast<double>(before - first_count_) / passed.count() : 0;
  if (is_measured && passed < longest) return;
  first_count_ = after;
  first_time_ = now;
}

void SliceClock::trust_counter() noexcept {
  if (is_ended_) return;
  constexpr double sure = 0.99;
  constexpr double most = 1e18;
  const double within = counts_per_ms_ * interval_.count() * sure;
  // (Zero times an infinite interval is not a number, and then the counter is not trusted.)
  surely_within_ = within > 0 ? static_cast<std::uint64_t>(std::min(within, most)) : 0;
}

}  // namespace HEIST_NAMESPACE::detail
