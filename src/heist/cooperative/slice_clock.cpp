#include <heist/detail/slice_clock.hpp>

namespace HEIST_NAMESPACE::detail {

SliceClock::SliceClock(const CooperativeHost& host) noexcept
    : host_(host), rate_(host.is_real_time()) {}

Milliseconds SliceClock::begin() noexcept {
  asked_at_ = cycle_count();
  began_ = host_.now();
  rate_.measure(asked_at_, began_, cycle_count());
  trust_counter(began_);
  return began_;
}

void SliceClock::set_interval(Milliseconds interval) noexcept {
  interval_ = interval;
  surely_within_ = 0;
}

bool SliceClock::ask_clock() noexcept {
  asked_at_ = cycle_count();
  const Milliseconds now = host_.now();
  trust_counter(now);
  return is_over_at(now);
}

void SliceClock::trust_counter(Milliseconds now) noexcept {
  surely_within_ = is_ended_ ? 0 : rate_.counts_within(deadline() - now);
}

}  // namespace HEIST_NAMESPACE::detail
