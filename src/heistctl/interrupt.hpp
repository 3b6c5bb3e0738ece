// Interrupt: Ctrl-C ends what the program does for the user, and then the program says so.
#pragma once

#include <chrono>

namespace heistctl {

/// While there is one, the first Ctrl-C is noted, and a second one ends the program at once.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// Whether there was a Ctrl-C.
  [[nodiscard]] static bool happened() noexcept;
  /// From now on requests are made again.
  static void forget() noexcept;
};

/// Waits; a Ctrl-C that is noted ends the wait. Errors: a Failure then.
void pause_for(std::chrono::milliseconds time);

}  // namespace heistctl
