// Turns: what the coroutines of a yield workload do when they go on.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "../../completion.hpp"

namespace bench {

/// Players yield `each` times and take a turn after each yield, in the order of their numbers: who
/// goes on before the others have had theirs has not yielded, which ends the program.
class Turns {
 public:
  Turns(std::int64_t each, int players) noexcept
      : each_(each), players_(players), done_(each * players) {}

  /// Ask before the first turn: after the last one this object may be gone.
  [[nodiscard]] std::int64_t each() const noexcept { return each_; }
  void take(int player) noexcept {
    if (player != next_) std::abort();
    next_ = player + 1 == players_ ? 0 : player + 1;
    done_.add(1);
  }

  /// Waits for the last turn.   Returns when it was.
  [[nodiscard]] Completion::Clock::time_point wait() const noexcept {
    done_.wait();
    return done_.ended();
  }

 private:
  std::int64_t each_;
  int players_;
  int next_ = 0;
  Completion done_;
};

}  // namespace bench
