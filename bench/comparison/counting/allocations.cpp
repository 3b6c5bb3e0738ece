// Counts what anybody in the program allocates from the C library, and then has it do so. Operator
// new calls malloc.
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "counts.hpp"

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the C library's names for its own functions.
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
// NOLINTEND(bugprone-reserved-identifier)

void* malloc(std::size_t bytes) {
  bench::count(bench::counts.allocations);
  return __libc_malloc(bytes);
}

void* calloc(std::size_t count, std::size_t bytes) {
  bench::count(bench::counts.allocations);
  return __libc_calloc(count, bytes);
}

void* realloc(void* block, std::size_t bytes) {
  bench::count(bench::counts.allocations);
  return __libc_realloc(block, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  bench::count(bench::counts.allocations);
  return __libc_memalign(alignment, bytes);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  bench::count(bench::counts.allocations);
  *block = __libc_memalign(alignment, bytes);
  return *block == nullptr ? ENOMEM : 0;
}
}
