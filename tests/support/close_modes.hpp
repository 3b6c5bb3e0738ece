// Ways to close a loop for which several tests ask.
#pragma once

#include <chrono>
#include <heist/event_loop.hpp>

namespace heist::support {

/// A drain whose deadline has passed when it begins.
inline CloseMode deadline_is_now() {
  return CloseMode::drain_until(std::chrono::steady_clock::now());
}

/// A drain that also waits for delayed tasks.
inline CloseMode drain_all() {
  auto mode = CloseMode::drain();
  mode.wait_for_delayed = true;
  return mode;
}

}  // namespace heist::support
