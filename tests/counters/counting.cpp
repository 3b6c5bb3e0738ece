#include "counters/counting.hpp"

#include <dlfcn.h>
#include <malloc.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <heist/detail/node_memory.hpp>
#include <limits>
#include <new>

#include "heist/memory/node_pool.hpp"

#if defined(HEIST_SANITIZER_ADDRESS) || defined(HEIST_SANITIZER_THREAD)
/// As in <sanitizer/allocator_interface.h>, which g++ does not bring along.
// NOLINTNEXTLINE(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp): the run-time
// library's name.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#else
#include <oneapi/tbb/scalable_allocator.h>
#endif

namespace heist::test {

using namespace detail;
namespace {

constexpr std::size_t most_kept_bytes = largest_node_class;
constexpr std::size_t kept_step = 32;

constinit thread_local bool refuse_memory = false;
constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();
constinit thread_local std::uint64_t news = 0;
constinit thread_local std::uint64_t most_news = no_limit;
constinit thread_local std::uint64_t calls = 0;
[[maybe_unused]] constinit std::atomic<std::int64_t> large_nodes_bytes =
    0;  ///< of scalable_aligned_malloc

void* counted_new(std::size_t bytes, std::size_t alignment) noexcept {
  if (refuse_memory || news >= most_news) return nullptr;
  ++news;
  void* memory = nullptr;
  if (bytes == 0) bytes = 1;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes);
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

[[maybe_unused]] void* new_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const memory = counted_new(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

/// The definition this executable hides.
template <class Function>
Function* hidden(const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

Allocations allocations() noexcept { return {news, node_pool_stats().backing_allocations}; }

#if defined(HEIST_SANITIZER_ADDRESS) || defined(HEIST_SANITIZER_THREAD)
std::int64_t live_bytes() noexcept {
  return static_cast<std::int64_t>(__sanitizer_get_current_allocated_bytes());
}
#else
std::int64_t live_bytes() noexcept {
  const auto heap = mallinfo2();
  return static_cast<std::int64_t>(heap.uordblks + heap.hblkhd) + large_nodes_bytes.load();
}
#endif

std::uint64_t system_calls() noexcept { return calls; }

bool pool_recycles() noexcept {
#if defined(HEIST_SANITIZER_ADDRESS)
  return false;
#else
  return true;
#endif
}

bool memory_can_fail() noexcept {
#if defined(HEIST_SANITIZER_ADDRESS) || defined(HEIST_SANITIZER_THREAD)
  return false;
#else
  return true;
#endif
}

bool new_can_fail() noexcept {
#if defined(__clang__) && (defined(HEIST_SANITIZER_ADDRESS) || defined(HEIST_SANITIZER_THREAD))
  return false;
#else
  return true;
#endif
}

MemoryFor::MemoryFor(std::uint64_t times) noexcept { most_news = news + times; }

MemoryFor::~MemoryFor() { most_news = no_limit; }

NoMemory::NoMemory(std::size_t nodes) {
  // The pool has some of each size then.
  for (const std::size_t bytes : node_class_bytes) release_node(allocate_node(bytes), bytes);
  refuse_memory = true;
  for (const std::size_t bytes : node_class_bytes) {
    try {
      for (;;) hoard_ = new (allocate_node(bytes)) Hoarded{hoard_, bytes};
    } catch (const std::bad_alloc&) {
      // This thread's cache and the shared store of the size are empty now.
    }
  }
  give_back(nodes);
}

void NoMemory::give_back(std::size_t nodes) noexcept {
  std::array<std::size_t, most_kept_bytes / kept_step + 1> given{};
  for (Hoarded** at = &hoard_; *at != nullptr;) {
    Hoarded* const node = *at;
    if (given[node->bytes / kept_step]++ >= nodes) {
      at = &node->next;
      continue;
    }
    *at = node->next;
    release_node(node, node->bytes);
  }
}

NoMemory::~NoMemory() {
  refuse_memory = false;
  while (hoard_ != nullptr) {
    const auto [next, bytes] = *hoard_;
    release_node(hoard_, bytes);
    hoard_ = next;
  }
}

}  // namespace heist::test

// clang's sanitizers link their own operator new in a way that leaves no room for another; only
// nodes count there.
#if !defined(__clang__) || !(defined(HEIST_SANITIZER_ADDRESS) || defined(HEIST_SANITIZER_THREAD))
// NOLINTBEGIN(cert-dcl58-cpp, readability-inconsistent-declaration-parameter-name,
// misc-new-delete-overloads)
void* operator new(std::size_t bytes) { return heist::test::new_or_throw(bytes, 1); }
void* operator new[](std::size_t bytes) { return heist::test::new_or_throw(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return heist::test::new_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return heist::test::new_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return heist::test::counted_new(bytes, 1);
}
void* operator new[](std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return heist::test::counted_new(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment,
                   const std::nothrow_t& /*tag*/) noexcept {
  return heist::test::counted_new(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment,
                     const std::nothrow_t& /*tag*/) noexcept {
  return heist::test::counted_new(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t /*bytes*/,
                       std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/,
                     const std::nothrow_t& /*tag*/) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t /*alignment*/,
                       const std::nothrow_t& /*tag*/) noexcept {
  std::free(memory);
}
// NOLINTEND(cert-dcl58-cpp, readability-inconsistent-declaration-parameter-name,
// misc-new-delete-overloads)
#endif

extern "C" {

#if !defined(HEIST_SANITIZER_ADDRESS) && !defined(HEIST_SANITIZER_THREAD)
// What the node pool calls.
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) noexcept {
  static auto* const real =
      heist::test::hidden<int(void**, std::size_t, std::size_t)>("posix_memalign");
  return heist::test::refuse_memory ? ENOMEM : real(memory, alignment, bytes);
}
void* scalable_aligned_malloc(std::size_t bytes, std::size_t alignment) {
  static auto* const real =
      heist::test::hidden<void*(std::size_t, std::size_t)>("scalable_aligned_malloc");
  if (heist::test::refuse_memory) return nullptr;
  void* const memory = real(bytes, alignment);
  heist::test::large_nodes_bytes += static_cast<std::int64_t>(scalable_msize(memory));
  return memory;
}
void scalable_aligned_free(void* memory) {
  static auto* const real = heist::test::hidden<void(void*)>("scalable_aligned_free");
  heist::test::large_nodes_bytes -= static_cast<std::int64_t>(scalable_msize(memory));
  real(memory);
}
#endif

// NOLINTNEXTLINE(cert-dcl50-cpp): the C library's own signature.
long syscall(long number, ...) noexcept {
  static auto* const real = heist::test::hidden<long(long, ...)>("syscall");
  ++heist::test::calls;
  std::va_list arguments;
  va_start(arguments, number);
  std::array<long, 6> values{};
  for (long& value : values) value = va_arg(arguments, long);
  va_end(arguments);
  return real(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}

}  // extern "C"
