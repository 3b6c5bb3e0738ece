// CooperativePriority: the five levels of the cooperative scheduler.
#pragma once

#include <cstdint>

namespace heist {

/// How urgent a cooperative task is. Its level decides only when it expires, counted from its
/// start; what expires first runs first, so that nothing waits for ever.
///
/// Spec: contract COOP-1.
enum class CooperativePriority : std::uint8_t {
  immediate = 1,      ///< expired at once: it is late from the beginning
  user_blocking = 2,  ///< 250 ms
  normal = 3,         ///< 5 s
  low = 4,            ///< 10 s
  idle = 5,           ///< 2^30 - 1 ms, some twelve days
};

}  // namespace heist
