// What compilers and the library call: the seam's operations, each access to plain memory (the
// program under test is compiled with -fsanitize=thread, and this is its runtime), and each
// allocation.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <heist/detail/sync.hpp>
#include <new>

#include "engine.hpp"

// NOLINTBEGIN(bugprone-reserved-identifier): the names are the compilers' and the C library's.

// The C library's own, behind the malloc and free below.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* block);
}

namespace {

using heist::model::AccessKind;
using heist::model::Code;
using heist::model::Engine;

/// The engine, for a step on the cell. A wild address crashes here, while the program is watched.
Engine* stepping(heist::model::Cell cell, bool writes, Code code) {
  Engine* engine = Engine::watching(code);
  if (engine == nullptr) return nullptr;
  volatile auto& byte = *static_cast<volatile unsigned char*>(cell.address);
  const unsigned char there = byte;
  if (writes) byte = there;
  return engine;
}

void touch(const void* begin, std::size_t bytes, AccessKind kind, Code code) {
  if (Engine* engine = Engine::watching(code)) engine->touch(begin, bytes, kind);
}

/// Null: no memory.
void* allocate(std::size_t bytes, std::size_t alignment, Code code) noexcept {
  if (Engine* engine = Engine::watching(code)) return engine->allocate(bytes, alignment);
  return alignment <= alignof(std::max_align_t) ? __libc_malloc(bytes)
                                                : __libc_memalign(alignment, bytes);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment, Code code) {
  if (void* block = allocate(bytes, alignment, code)) return block;
  throw std::bad_alloc();
}

void release(void* block, Code code) noexcept {
  static_cast<void>(Engine::watching(code));
  if (block == nullptr || (Engine::made() != nullptr && Engine::made()->release(block))) return;
  __libc_free(block);
}

}  // namespace

#define HEIST_CALLER __builtin_return_address(0)

namespace heist::model {

using namespace detail;

void created(Cell cell, Word value) noexcept {
  if (Engine* engine = Engine::watching(HEIST_CALLER)) engine->created(cell, value);
}
Word load(Cell cell, std::memory_order order, Where where) noexcept {
  Engine* engine = stepping(cell, false, HEIST_CALLER);
  return engine != nullptr ? engine->load(cell, order, where) : read_raw(cell);
}
void store(Cell cell, Word value, std::memory_order order, Where where) noexcept {
  Engine* engine = stepping(cell, true, HEIST_CALLER);
  engine != nullptr ? engine->store(cell, value, order, where) : write_raw(cell, value);
}
Word update(Cell cell, Update what, Word operand, std::memory_order order, Where where) noexcept {
  if (Engine* engine = stepping(cell, true, HEIST_CALLER)) {
    return engine->update(cell, what, operand, order, where);
  }
  const Word before = read_raw(cell);
  write_raw(cell, applied(what, before, operand, cell.bytes));
  return before;
}
bool compare_exchange(Cell cell, Word& expected, Word desired, std::memory_order success,
                      std::memory_order failure, Where where) noexcept {
  if (Engine* engine = stepping(cell, true, HEIST_CALLER)) {
    return engine->compare_exchange(cell, expected, desired, success, failure, where);
  }
  const Word before = read_raw(cell);
  const bool equal = before == expected;
  if (equal) write_raw(cell, desired);
  expected = before;
  return equal;
}
void sleep_on(Cell cell, Word expected, bool timed, Where where) noexcept {
  if (Engine* engine = Engine::watching(HEIST_CALLER)) {
    engine->sleep_on(cell, expected, timed, where);
  }
}
const void* this_thread() noexcept { return Engine::instance().this_thread(); }
void wake(Cell cell, int how_many, Where where) noexcept {
  if (Engine* engine = Engine::watching(HEIST_CALLER)) engine->wake(cell, how_many, where);
}

}  // namespace heist::model

void* operator new(std::size_t bytes) {
  return allocate_or_throw(bytes, alignof(std::max_align_t), HEIST_CALLER);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment), HEIST_CALLER);
}
void operator delete(void* block) noexcept { release(block, HEIST_CALLER); }
void operator delete(void* block, std::size_t) noexcept { release(block, HEIST_CALLER); }
void operator delete(void* block, std::align_val_t) noexcept { release(block, HEIST_CALLER); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  release(block, HEIST_CALLER);
}

#define HEIST_ACCESS(bytes)                                                                        \
  void __tsan_read##bytes(void* at) { touch(at, bytes, AccessKind::read, HEIST_CALLER); }          \
  void __tsan_write##bytes(void* at) { touch(at, bytes, AccessKind::write, HEIST_CALLER); }        \
  void __tsan_unaligned_read##bytes(void* at) {                                                    \
    touch(at, bytes, AccessKind::read, HEIST_CALLER);                                              \
  }                                                                                                \
  void __tsan_unaligned_write##bytes(void* at) {                                                   \
    touch(at, bytes, AccessKind::write, HEIST_CALLER);                                             \
  }                                                                                                \
  void __tsan_volatile_read##bytes(void* at) { touch(at, bytes, AccessKind::read, HEIST_CALLER); } \
  void __tsan_volatile_write##bytes(void* at) {                                                    \
    touch(at, bytes, AccessKind::write, HEIST_CALLER);                                             \
  }                                                                                                \
  void __tsan_read_write##bytes(void* at) { touch(at, bytes, AccessKind::write, HEIST_CALLER); }

extern "C" {
// The C++ runtime allocates exceptions with malloc.
void* malloc(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t), HEIST_CALLER); }
// The node pool's chunks.
int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  void* const memory = allocate(bytes, alignment, HEIST_CALLER);
  if (memory == nullptr) return ENOMEM;
  *block = memory;
  return 0;
}
void* calloc(std::size_t count, std::size_t bytes) {
  void* block = allocate(count * bytes, alignof(std::max_align_t), HEIST_CALLER);
  return block != nullptr ? std::memset(block, 0, count * bytes) : nullptr;
}
void free(void* block) { release(block, HEIST_CALLER); }

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
HEIST_ACCESS(1)
HEIST_ACCESS(2)
HEIST_ACCESS(4)
HEIST_ACCESS(8)
HEIST_ACCESS(16)
void __tsan_read_range(void* at, std::size_t bytes) {
  touch(at, bytes, AccessKind::read, HEIST_CALLER);
}
void __tsan_write_range(void* at, std::size_t bytes) {
  touch(at, bytes, AccessKind::write, HEIST_CALLER);
}
void __tsan_vptr_read(void** at) {
  touch(static_cast<const void*>(at), sizeof *at, AccessKind::read, HEIST_CALLER);
}
void __tsan_vptr_update(void** at, void* value) {
  if (*at != value)
    touch(static_cast<const void*>(at), sizeof *at, AccessKind::write, HEIST_CALLER);
}
void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
  touch(from, bytes, AccessKind::read, HEIST_CALLER);
  touch(to, bytes, AccessKind::write, HEIST_CALLER);
  return std::memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
  touch(from, bytes, AccessKind::read, HEIST_CALLER);
  touch(to, bytes, AccessKind::write, HEIST_CALLER);
  return std::memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, std::size_t bytes) {
  touch(to, bytes, AccessKind::write, HEIST_CALLER);
  return std::memset(to, value, bytes);
}
}
// NOLINTEND(bugprone-reserved-identifier)
