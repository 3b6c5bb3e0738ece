// Ctrl-C: the program ends what it does for the user, tidies up, and says so.
#pragma once

#include <chrono>

namespace heistctl {

/// From now on the first Ctrl-C is noted. A second one ends the program at once.
void note_interrupts() noexcept;

/// Errors: a Failure if a Ctrl-C was noted.
void check_interrupts();

/// What was noted is forgotten, so that requests can be made.
void forget_interrupts() noexcept;

/// Waits; a Ctrl-C ends the wait. Errors: a Failure then.
void pause_for(std::chrono::milliseconds time);

}  // namespace heistctl
