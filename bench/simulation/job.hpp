// Job: what a simulated job needs to be known of.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include "world.hpp"

namespace simulation {

/// Levels as in heistd: the higher, the more urgent.
constexpr std::size_t levels = 3;
constexpr std::size_t background = 0;
constexpr std::size_t user_visible = 1;
constexpr std::size_t user_blocking = 2;

struct Job {
  std::size_t level;
  Time accepted;  ///< when its acceptance was safe
  Time left;      ///< of its work
  bool has_started = false;
};

using JobsByLevel = std::array<std::deque<Job>, levels>;

}  // namespace simulation
