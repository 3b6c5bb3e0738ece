// Progress: a line on the standard error output, every few seconds.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace bench {

class Progress {
 public:
  explicit Progress(std::size_t steps) noexcept : steps_(steps) {}
  /// Before a step.
  void begin(const std::string& what);
  void end();

 private:
  using Clock = std::chrono::steady_clock;

  std::size_t steps_;
  std::size_t done_ = 0;
  Clock::time_point started_ = Clock::now();
  Clock::time_point said_;
};

}  // namespace bench
