// UpkeepTime: for how long an agent goes on with upkeep of which a portion was not enough.
#pragma once

#include <algorithm>
#include <chrono>
#include <heist/version.hpp>

#include "../task/loop_clock.hpp"

namespace HEIST_NAMESPACE::detail {

/// A portion at each pick keeps picks short, but where picks are rare, as tasks are long, more may
/// come than portions take away. So upkeep goes on: for an eighth of the time since it last did,
/// and a quarter of a millisecond at the most. Picks that are not rare stay short, and no pick is
/// late for it.
///
/// Agent only.
class UpkeepTime {
 public:
  static constexpr std::chrono::microseconds most{250};

  /// Calls `step()`, which does a portion and says whether there is more, while there is time. On a
  /// virtual clock, which stands still meanwhile, it does nothing.
  template <class Step>
  void go_on(const LoopTime& time, Step&& step) noexcept {
    if (time.is_virtual()) return;
    const auto begin = time.now();
    const auto end = begin + std::min<std::chrono::nanoseconds>(most, (begin - last_) / 8);
    do last_ = time.now();
    while (last_ < end && step());
  }

 private:
  std::chrono::nanoseconds last_{};  ///< when upkeep last went on
};

}  // namespace HEIST_NAMESPACE::detail
