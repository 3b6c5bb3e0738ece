#include <heist/detail/slice_clock.hpp>

namespace HEIST_NAMESPACE::detail {

SliceClock::SliceClock(const CooperativeHost& host) noexcept
    : host_(host), rate_(host.is_real_time()) {}

Milliseconds SliceClock::begin() noexcept {
  asked_at_ = cycle_count();
  began_ = host_.now();
  rate_.measure(asked_at_, began_, cycle_count());
  keep(began_);
  return began_;
}

void SliceClock::set_interval(Milliseconds interval) noexcept {
  interval_ = interval;
  surely_within_ = 0;
}

bool SliceClock::ask_clock() noexcept { return is_over_at(read()); }

Milliseconds SliceClock::read() noexcept {
  asked_at_ = cycle_count();
  const Milliseconds now = host_.now();
  keep(now);
  return now;
}

/// From here on the counter answers for as long as it is sure.
void SliceClock::keep(Milliseconds now) noexcept {
  read_ = now;
  surely_within_ = is_ended_ ? 0 : rate_.counts_within(deadline() - now);
  surely_before_next_ = rate_.counts_within(next_ - now);
}

}  // namespace HEIST_NAMESPACE::detail
