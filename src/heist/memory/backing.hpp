// The allocator behind the node pool, for nodes that are too large for it. HEIST_MALLOC chose it
// when heist was configured (docs/adr/0063): oneTBB's, the C library's, or mimalloc. Under a
// sanitizer it is always the C library's, which the sanitizer replaces by one that it can watch.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <heist/version.hpp>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define HEIST_MALLOC_WATCHED 1
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define HEIST_MALLOC_WATCHED 1
#endif

#if defined(HEIST_MALLOC_WATCHED) || defined(HEIST_MALLOC_SYSTEM)
#define HEIST_MALLOC_OF_C 1
#elif defined(HEIST_MALLOC_MIMALLOC)
#include <mimalloc.h>
#elif defined(HEIST_MALLOC_TBB)
#include <oneapi/tbb/scalable_allocator.h>
#else
#error \
    "Define HEIST_MALLOC_TBB, HEIST_MALLOC_SYSTEM or HEIST_MALLOC_MIMALLOC, as CMake's HEIST_MALLOC does."
#endif

namespace HEIST_NAMESPACE::detail {

/// Memory of that alignment, which is a power of two from 16 on; null when there is none.
///
/// Thread: any.   Blocks: as the allocator does.
[[nodiscard]] inline void* backing_allocate(std::size_t bytes, std::size_t alignment) noexcept {
#if defined(HEIST_MALLOC_OF_C)
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
#elif defined(HEIST_MALLOC_MIMALLOC)
  return mi_malloc_aligned(bytes, alignment);
#else
  return scalable_aligned_malloc(bytes, alignment);
#endif
}

/// Gives back what backing_allocate() returned. Thread: any.
inline void backing_free(void* memory) noexcept {
#if defined(HEIST_MALLOC_OF_C)
  std::free(memory);
#elif defined(HEIST_MALLOC_MIMALLOC)
  mi_free(memory);
#else
  scalable_aligned_free(memory);
#endif
}

}  // namespace HEIST_NAMESPACE::detail
