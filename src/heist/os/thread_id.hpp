// Identifies the calling thread by an address, which is cheap to read, compare and store in an
// atomic.
#pragma once

#include <heist/detail/sync.hpp>

namespace HEIST_NAMESPACE::detail {

[[nodiscard]] inline const void* this_thread_identity() noexcept {
#ifdef HEIST_MODEL
  return model::this_thread();  // here all virtual threads share one copy of thread-local variables
#else
  static thread_local constinit char identity = 0;
  return &identity;
#endif
}

}  // namespace HEIST_NAMESPACE::detail
