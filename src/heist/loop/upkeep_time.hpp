// UpkeepTime: for how long an agent goes on with upkeep of which a portion was not enough.
#pragma once

#include <algorithm>
#include <chrono>
#include <heist/version.hpp>

#include "../task/loop_clock.hpp"

namespace HEIST_NAMESPACE::detail {

/// Upkeep in portions, one at each pick, keeps picks short. But where tasks are long and picks
/// rare, more work may come than the portions do. So upkeep goes on after its portion, for an
/// eighth of the time since it last went on, and for a quarter of a millisecond at the most. Where
/// picks are frequent that is next to nothing.
///
/// Thread: the agent.
class UpkeepTime {
 public:
  static constexpr std::chrono::microseconds most{250};

  /// Calls `step()`, which does a portion and says whether there is more, until the time is over.
  /// It does nothing on a virtual clock, which would stand still meanwhile.
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
