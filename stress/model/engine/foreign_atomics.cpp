// Atomics that do not go through the seam (of the standard library: std::shared_ptr): what
// compilers call for them with -fsanitize=thread.
#include <heist/detail/sync.hpp>

#include "clock.hpp"

namespace {

using heist::model::Cell;
using heist::model::Update;
using heist::model::Where;
using heist::model::Word;

std::memory_order order_of(int order) noexcept { return static_cast<std::memory_order>(order); }

template <class T>
Cell cell(volatile T* at) noexcept {
  return {const_cast<T*>(at), sizeof(T)};
}

template <class T>
T update(volatile T* at, Update what, T operand, int order) noexcept {
  return static_cast<T>(
      heist::model::update(cell(at), what, operand, order_of(order), Where::current()));
}

template <class T>
int compare_exchange(volatile T* at, T* expected, T desired, int success, int failure) noexcept {
  Word word = *expected;
  const bool done = heist::model::compare_exchange(cell(at), word, desired, order_of(success),
                                                   order_of(failure), Where::current());
  *expected = static_cast<T>(word);
  return done ? 1 : 0;
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier,bugprone-macro-parentheses): names are the compilers',
// and types take no parentheses.
#define HEIST_FOREIGN_UPDATE(bits, type, name, what)                              \
  type __tsan_atomic##bits##_##name(volatile type* at, type operand, int order) { \
    return update(at, Update::what, operand, order);                              \
  }
#define HEIST_FOREIGN_ATOMICS(bits, type)                                                          \
  type __tsan_atomic##bits##_load(const volatile type* at, int order) {                            \
    return static_cast<type>(heist::model::load(cell(const_cast<volatile type*>(at)),              \
                                                order_of(order), Where::current()));               \
  }                                                                                                \
  void __tsan_atomic##bits##_store(volatile type* at, type value, int order) {                     \
    heist::model::store(cell(at), value, order_of(order), Where::current());                       \
  }                                                                                                \
  HEIST_FOREIGN_UPDATE(bits, type, exchange, exchange)                                             \
  HEIST_FOREIGN_UPDATE(bits, type, fetch_add, add)                                                 \
  HEIST_FOREIGN_UPDATE(bits, type, fetch_sub, subtract)                                            \
  HEIST_FOREIGN_UPDATE(bits, type, fetch_or, bit_or)                                               \
  HEIST_FOREIGN_UPDATE(bits, type, fetch_and, bit_and)                                             \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type* at, type* expected,             \
                                                    type desired, int success, int failure) {      \
    return compare_exchange(at, expected, desired, success, failure);                              \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile type* at, type* expected, type desired, \
                                                  int success, int failure) {                      \
    return compare_exchange(at, expected, desired, success, failure);                              \
  }

extern "C" {
HEIST_FOREIGN_ATOMICS(8, std::uint8_t)
HEIST_FOREIGN_ATOMICS(16, std::uint16_t)
HEIST_FOREIGN_ATOMICS(32, std::uint32_t)
HEIST_FOREIGN_ATOMICS(64, std::uint64_t)
}
// NOLINTEND(bugprone-reserved-identifier,bugprone-macro-parentheses)
