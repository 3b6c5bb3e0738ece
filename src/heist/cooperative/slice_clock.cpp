#include <heist/detail/slice_clock.hpp>

namespace HEIST_NAMESPACE::detail {

SliceClock::SliceClock(const CooperativeHost& host) noexcept
    : host_(host), rate_(host.is_real_time()) {}

Milliseconds SliceClock::begin() noexcept {
  began_at_count_ = cycle_count();
  began_ = host_.now();
  rate_.measure(began_at_count_, began_, cycle_count());
  trust_counter();
  return began_;
}

void SliceClock::set_interval(Milliseconds interval) noexcept {
  interval_ = interval;
  trust_counter();
}

bool SliceClock::ask_clock() const noexcept { return is_over_at(host_.now()); }

void SliceClock::trust_counter() noexcept {
  if (!is_ended_) surely_within_ = rate_.counts_within(interval_);
}

}  // namespace HEIST_NAMESPACE::detail
