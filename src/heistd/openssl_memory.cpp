#include <openssl/crypto.h>

#include <cstdlib>
#include <heistd/memory_shortage.hpp>
#include <heistd/network_reserve.hpp>
#include <heistd/openssl_memory.hpp>

namespace heistd {
namespace {

/// What operator new does with its handler.
template <class Attempt>
void* with_reserve(std::size_t bytes, Attempt attempt) noexcept {
  if (bytes == 0) return nullptr;
  for (;;) {
    if (void* const memory = attempt()) return memory;
    MemoryShortage::note();
    if (!NetworkReserve::give()) return nullptr;
  }
}

void* allocate(std::size_t bytes, const char* /*file*/, int /*line*/) {
  return with_reserve(bytes, [bytes] { return std::malloc(bytes); });
}

void* reallocate(void* memory, std::size_t bytes, const char* /*file*/, int /*line*/) {
  if (bytes == 0) std::free(memory);
  return with_reserve(bytes, [memory, bytes] { return std::realloc(memory, bytes); });
}

void release(void* memory, const char* /*file*/, int /*line*/) { std::free(memory); }

}  // namespace

void give_openssl_the_reserve() noexcept {
  CRYPTO_set_mem_functions(&allocate, &reallocate, &release);
}

}  // namespace heistd
