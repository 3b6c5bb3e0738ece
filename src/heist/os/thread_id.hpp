// Identity of the calling thread as an address: cheap to read, compare and store in an atomic.
#pragma once

#include <heist/detail/sync.hpp>

namespace HEIST_NAMESPACE::detail {

[[nodiscard]] inline const void* this_thread_identity() noexcept {
#ifdef HEIST_MODEL
  return model::
      this_thread();  // all virtual threads have their thread-local variables at one place
#else
  static thread_local constinit char identity = 0;
  return &identity;
#endif
}

}  // namespace HEIST_NAMESPACE::detail
