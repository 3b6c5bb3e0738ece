#include "tick_reader.hpp"

namespace HEIST_NAMESPACE::detail {

Tick TickReader::read() noexcept {
  const std::uint64_t before = cycle_count();
  const auto now = time_->now();
  rate_.measure(before, now, cycle_count());
  tick_ = time_->tick_at(now);
  read_at_ = before;
  surely_within_ = rate_.counts_within(time_->start_of(tick_ + 1) - now);
  return tick_;
}

}  // namespace HEIST_NAMESPACE::detail
