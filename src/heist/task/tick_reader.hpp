// TickReader: the tick of a loop's clock, for an agent that asks at each pick.
#pragma once

#include <cstdint>
#include <heist/detail/cycle_rate.hpp>

#include "loop_clock.hpp"

namespace HEIST_NAMESPACE::detail {

/// Reads the clock once in a tick. While that tick surely lasts, the processor's counter answers
/// (CycleRate). A virtual clock is always read.
///
/// The counters of all CPUs are taken for synchronised, as the kernel keeps them: a tick is seen
/// late by at most as much as a CPU's counter lags. A count that is behind the one of the last
/// reading, or far ahead of it, is not believed.
///
/// Thread: one at a time.
class TickReader {
 public:
  explicit TickReader(const LoopTime& time) noexcept : time_(&time), rate_(!time.is_virtual()) {}

  /// The tick that began last.
  [[nodiscard]] Tick now() noexcept {
    return cycle_count() - read_at_ < surely_within_ ? tick_ : read();
  }

 private:
  [[nodiscard]] Tick read() noexcept;

  const LoopTime* time_;
  CycleRate rate_;
  Tick tick_ = 0;                    ///< as it was read last, ...
  std::uint64_t read_at_ = 0;        ///< ... at this count
  std::uint64_t surely_within_ = 0;  ///< for so many counts more it lasts
};

}  // namespace HEIST_NAMESPACE::detail
