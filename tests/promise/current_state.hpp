// What tests of scheduling states look at.
#pragma once

#include <heist/detail/scheduling_state.hpp>

#include "heist/loop/loop_core.hpp"

namespace heist::support {

using namespace detail;

/// The scheduling state of the calling thread's loop.
inline SchedulingState current_state() { return current_loop()->on_agent().current; }

}  // namespace heist::support
