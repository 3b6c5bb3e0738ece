#include <algorithm>
#include <heist/detail/cycle_rate.hpp>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace HEIST_NAMESPACE::detail {

namespace {

/// Whether cycle_count() always counts at the same rate.   Cost: a virtual machine of x86-64 traps.
bool find_constant_rate() noexcept {
#if defined(__x86_64__)
  constexpr unsigned power_leaf = 0x80000007U;
  constexpr unsigned invariant_counter = 1U << 8U;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(power_leaf, &a, &b, &c, &d) != 0 && (d & invariant_counter) != 0;
#elif defined(__aarch64__)
  // The architecture says so, and Linux's own clock reads the same counter. Where a processor has a
  // counter that errs, the kernel reads it for us.
  return true;
#else
  return false;
#endif
}

}  // namespace

bool has_constant_rate() noexcept {
  static const bool is_constant = find_constant_rate();
  return is_constant;
}

CycleRate::CycleRate(bool is_real) noexcept : has_counter_(is_real && has_constant_rate()) {}

void CycleRate::measure(std::uint64_t before, Milliseconds now, std::uint64_t after) noexcept {
  constexpr Milliseconds shortest(10);
  constexpr Milliseconds longest(10'000);
  if (!has_counter_) return;
  const Milliseconds passed = now - first_time_;
  const bool is_measured = first_count_ != 0 && before > first_count_;
  if (is_measured && passed < shortest) return;
  if (is_measured && passed <= longest) {
    believe(static_cast<double>(before - first_count_) / passed.count());
  }
  first_count_ = after;
  first_time_ = now;
}

void CycleRate::believe(double counts_per_ms) noexcept {
  constexpr double most_growth = 1.001;
  const bool is_second = earlier_ > 0;
  if (is_second) counts_per_ms = std::min(counts_per_ms, earlier_ * most_growth);
  counts_per_ms_ = is_second ? counts_per_ms : 0;
  earlier_ = counts_per_ms;
}

std::uint64_t CycleRate::counts_within(Milliseconds time) const noexcept {
  constexpr double sure = 0.9;
  constexpr double most = 1e18;
  const double within = counts_per_ms_ * time.count() * sure;
  // (Zero times an infinite time is not a number, and then the counter is not trusted.)
  return within > 0 ? static_cast<std::uint64_t>(std::min(within, most)) : 0;
}

}  // namespace HEIST_NAMESPACE::detail
