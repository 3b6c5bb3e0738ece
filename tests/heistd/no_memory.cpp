#include "no_memory.hpp"

#include <malloc.h>
#include <openssl/crypto.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <heistd/memory_reserve.hpp>
#include <limits>
#include <new>

namespace heistd {
namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
constinit thread_local std::size_t left = unlimited;
constinit thread_local bool only_once = false;
constinit thread_local bool thrown = false;
constinit thread_local std::size_t asked = 0;
constinit std::atomic<std::size_t> live = 0;

/// Of a piece of memory, with the allocator's own word in front of it.
std::size_t bytes_of(void* memory) noexcept { return malloc_usable_size(memory) + sizeof(void*); }

}  // namespace

NoMemory::NoMemory(std::size_t successes, Fails fails) noexcept {
  left = successes;
  only_once = fails == Fails::once;
  thrown = false;
}
NoMemory::~NoMemory() { left = unlimited; }
bool NoMemory::struck() const noexcept { return thrown; }

std::size_t heap_bytes() noexcept { return live; }
std::size_t allocations() noexcept { return asked; }

namespace {

/// Counts one more allocation, and says whether it is to fail. None fails that uses the reserve:
/// that is there because RE2 frees memory twice when it meets std::bad_alloc.
bool fails_now() noexcept {
  ++asked;
  if (MemoryReserve::is_in_use()) return false;
  if (left != 0) {
    if (left != unlimited) --left;
    return false;
  }
  thrown = true;
  if (only_once) left = unlimited;
  return true;
}

void* allocate(std::size_t bytes) {
  if (fails_now()) {
    // As the standard says of operator new: the handler finds memory, or throws.
    const auto handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
  void* const memory = std::malloc(bytes > 0 ? bytes : 1);
  if (memory == nullptr) throw std::bad_alloc();
  live += bytes_of(memory);
  return memory;
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  live -= bytes_of(memory);
  std::free(memory);
}

void* allocate_for_openssl(std::size_t bytes, const char* /*file*/, int /*line*/) {
  return fails_now() ? nullptr : std::malloc(bytes);
}
void* reallocate_for_openssl(void* memory, std::size_t bytes, const char* /*file*/, int /*line*/) {
  return fails_now() ? nullptr : std::realloc(memory, bytes);
}
void release_for_openssl(void* memory, const char* /*file*/, int /*line*/) { std::free(memory); }

// Before OpenSSL asks for any memory: later it refuses.
[[maybe_unused]] const int for_openssl_too =
    CRYPTO_set_mem_functions(&allocate_for_openssl, &reallocate_for_openssl, &release_for_openssl);

}  // namespace
}  // namespace heistd

void* operator new(std::size_t bytes) { return heistd::allocate(bytes); }
void* operator new[](std::size_t bytes) { return heistd::allocate(bytes); }
void operator delete(void* memory) noexcept { heistd::release(memory); }
void operator delete[](void* memory) noexcept { heistd::release(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { heistd::release(memory); }
void operator delete[](void* memory, std::size_t /*bytes*/) noexcept { heistd::release(memory); }

// What the library's node pool calls, for 512 KiB at a time. A sanitizer has its own.
#if !defined(HEIST_SANITIZER_ADDRESS) && !defined(HEIST_SANITIZER_THREAD)
extern "C" int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) noexcept {
  *memory = std::aligned_alloc(alignment, bytes);
  if (*memory == nullptr) return ENOMEM;
  heistd::live += heistd::bytes_of(*memory);
  return 0;
}
#endif
