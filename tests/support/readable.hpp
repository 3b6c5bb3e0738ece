// What a foreign loop sees of a descriptor.
#pragma once

#include <poll.h>

#include <chrono>

namespace heist::support {

/// Whether the descriptor becomes readable within the time.   Blocks: for that long at most.
inline bool becomes_readable(int descriptor, std::chrono::milliseconds within) {
  pollfd entry{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&entry, 1, static_cast<int>(within.count())) == 1;
}

}  // namespace heist::support
