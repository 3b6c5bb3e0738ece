// Origin: the three places from which a loop is used.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

namespace heist::support {

/// The places are a task of the loop, the thread that drives it, between two calls, and another
/// thread.
enum class Origin : std::uint8_t { task, driver, other_thread };

[[nodiscard]] inline std::string to_string(Origin origin) {
  switch (origin) {
    case Origin::task:
      return "task";
    case Origin::driver:
      return "driver";
    case Origin::other_thread:
      return "other_thread";
  }
  return "nowhere";
}

inline void PrintTo(Origin origin, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << to_string(origin);
}

}  // namespace heist::support
