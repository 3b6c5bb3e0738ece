// Identity of the calling thread as an address: cheap to read, compare and store in an atomic.
#pragma once

namespace heist {

[[nodiscard]] inline const void* this_thread_identity() noexcept {
  static thread_local constinit char identity = 0;
  return &identity;
}

}  // namespace heist
