// The atomics of model-checking builds (HEIST_MODEL): each operation is a step of a virtual thread.
// The engine in stress/model decides which thread takes the next step and, within what C++ allows,
// which value it reads. Included by heist/detail/sync.hpp only.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <heist/sync_weakening.hpp>
#include <heist/version.hpp>
#include <source_location>
#include <string_view>
#include <type_traits>

namespace heist::model {

/// Where a step is in the source: what a trace prints.
using Where = std::source_location;
using Word = std::uint64_t;

/// A read-modify-write but for compare-exchange.
enum class Update : std::uint8_t { exchange, add, subtract, bit_or, bit_and };

/// An atomic object: its address and size. Its memory always holds the newest value, so that
/// objects with static storage live from one execution to the next.
struct Cell {
  void* address;
  unsigned bytes;
};

// What the engine answers. Outside of an execution all of these act as on plain memory.
void created(Cell cell, Word value) noexcept;
[[nodiscard]] Word load(Cell cell, std::memory_order order, Where where) noexcept;
void store(Cell cell, Word value, std::memory_order order, Where where) noexcept;
Word update(Cell cell, Update what, Word operand, std::memory_order order, Where where) noexcept;
[[nodiscard]] bool compare_exchange(Cell cell, Word& expected, Word desired,
                                    std::memory_order success, std::memory_order failure,
                                    Where where) noexcept;
/// As a futex: sleeps if the newest value is `expected`. May be left at any time if `timed`.
void sleep_on(Cell cell, Word expected, bool timed, Where where) noexcept;
void wake(Cell cell, int how_many, Where where) noexcept;
/// Differs from that of every other virtual thread.
[[nodiscard]] const void* this_thread() noexcept;
inline constexpr int everybody = 1 << 30;

}  // namespace heist::model

namespace HEIST_NAMESPACE::detail::sync {

/// The weakening under which a model runs; the engine sets it between executions.
inline Weakening weakening;

/// As in a normal build, but at run time; weakened when the engine says so.
[[nodiscard]] inline std::memory_order edge(std::string_view name,
                                            std::memory_order order) noexcept {
  return !weakening.end.empty() && name == weakening.end ? weakening.of(order) : order;
}

// NOLINTBEGIN(readability-identifier-naming): as std::atomic.
// NOLINTBEGIN(bugprone-sizeof-expression): of the pointer itself, where T is one.

/// What the library uses of std::atomic.
template <class T>
class atomic {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(model::Word));

 public:
  using Where = model::Where;

  constexpr atomic() noexcept : atomic(T()) {}
  // NOLINTNEXTLINE(google-explicit-constructor): as std::atomic.
  constexpr atomic(T value) noexcept : value_(value) {
    if (!std::is_constant_evaluated()) model::created(cell(), to_word(value));
  }
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  [[nodiscard]] T load(std::memory_order order, Where where = Where::current()) const noexcept {
    return from_word(model::load(cell(), order, where));
  }
  void store(T value, std::memory_order order, Where where = Where::current()) noexcept {
    model::store(cell(), to_word(value), order, where);
  }
  T exchange(T value, std::memory_order order, Where where = Where::current()) noexcept {
    return update(model::Update::exchange, value, order, where);
  }
  T fetch_add(T operand, std::memory_order order, Where where = Where::current()) noexcept {
    return update(model::Update::add, operand, order, where);
  }
  T fetch_sub(T operand, std::memory_order order, Where where = Where::current()) noexcept {
    return update(model::Update::subtract, operand, order, where);
  }
  T fetch_or(T operand, std::memory_order order, Where where = Where::current()) noexcept {
    return update(model::Update::bit_or, operand, order, where);
  }
  T fetch_and(T operand, std::memory_order order, Where where = Where::current()) noexcept {
    return update(model::Update::bit_and, operand, order, where);
  }

  bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                               std::memory_order failure, Where where = Where::current()) noexcept {
    model::Word word = to_word(expected);
    const bool done =
        model::compare_exchange(cell(), word, to_word(desired), success, failure, where);
    if (!done) expected = from_word(word);
    return done;
  }
  /// Fails only as the strong one does: a caller that retries sees no difference.
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                             std::memory_order failure, Where where = Where::current()) noexcept {
    return compare_exchange_strong(expected, desired, success, failure, where);
  }

  void wait(T old, std::memory_order order, Where where = Where::current()) const noexcept {
    while (load(order, where) == old) model::sleep_on(cell(), to_word(old), false, where);
  }
  void notify_one(Where where = Where::current()) noexcept { model::wake(cell(), 1, where); }
  void notify_all(Where where = Where::current()) noexcept {
    model::wake(cell(), model::everybody, where);
  }

  [[nodiscard]] model::Cell cell() const noexcept {
    return {static_cast<void*>(&value_), sizeof(T)};
  }

 private:
  static model::Word to_word(T value) noexcept {
    model::Word word = 0;
    std::memcpy(&word, static_cast<const void*>(&value), sizeof(T));
    return word;
  }
  static T from_word(model::Word word) noexcept {
    T value;
    std::memcpy(static_cast<void*>(&value), &word, sizeof(T));
    return value;
  }
  T update(model::Update what, T operand, std::memory_order order, Where where) noexcept {
    return from_word(model::update(cell(), what, to_word(operand), order, where));
  }
  alignas(sizeof(T)) mutable T value_;
};

// NOLINTEND(bugprone-sizeof-expression)
// NOLINTEND(readability-identifier-naming)

}  // namespace HEIST_NAMESPACE::detail::sync
