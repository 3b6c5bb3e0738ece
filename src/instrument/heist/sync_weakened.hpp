// The atomics of builds with a weakened end (HEIST_WEAKENED): as std::atomic, except that the end
// of an edge which the environment variable HEIST_WEAKEN names is weakened. scripts/verify
// weakened-ends shows with it that ThreadSanitizer reports every weakened end. Included by
// heist/detail/sync.hpp only.
#pragma once

#include <atomic>
#include <cstdlib>
#include <heist/sync_weakening.hpp>
#include <heist/version.hpp>
#include <string_view>

namespace HEIST_NAMESPACE::detail::sync {

/// What the environment variable HEIST_WEAKEN asks for.
inline Weakening wanted_weakening() noexcept {
  const char* text = std::getenv("HEIST_WEAKEN");  // NOLINT(concurrency-mt-unsafe): before main().
  return Weakening::named(text != nullptr ? text : "");
}

inline const Weakening weakening = wanted_weakening();

/// As in a normal build, but at run time; weakened when the environment says so.
[[nodiscard]] inline std::memory_order edge(std::string_view name,
                                            std::memory_order order) noexcept {
  return name == weakening.end ? weakening.of(order) : order;
}

/// Calls `operation<order>()` with the order as a constant: g++ does not instrument an atomic
/// operation whose order it does not know when it compiles.
template <class Operation>
decltype(auto) with_constant(std::memory_order order, Operation operation) noexcept {
  switch (order) {
    case std::memory_order_relaxed:
      return operation.template operator()<__ATOMIC_RELAXED>();
    case std::memory_order_consume:
    case std::memory_order_acquire:
      return operation.template operator()<__ATOMIC_ACQUIRE>();
    case std::memory_order_release:
      return operation.template operator()<__ATOMIC_RELEASE>();
    case std::memory_order_acq_rel:
      return operation.template operator()<__ATOMIC_ACQ_REL>();
    case std::memory_order_seq_cst:
      break;
  }
  return operation.template operator()<__ATOMIC_SEQ_CST>();
}

/// What the library uses of std::atomic, with orders known at run time only.
template <class T>
class atomic {
 public:
  constexpr atomic() noexcept : value_() {}
  // NOLINTNEXTLINE(google-explicit-constructor): as std::atomic.
  constexpr atomic(T value) noexcept : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  [[nodiscard]] T load(std::memory_order order) const noexcept {
    return with_constant(order, [this]<int constant>() {
      constexpr int possible = constant == __ATOMIC_RELEASE   ? __ATOMIC_RELAXED
                               : constant == __ATOMIC_ACQ_REL ? __ATOMIC_ACQUIRE
                                                              : constant;
      T result;
      __atomic_load(&value_, &result, possible);
      return result;
    });
  }

  void store(T value, std::memory_order order) noexcept {
    with_constant(order, [this, &value]<int constant>() {
      constexpr int possible = constant == __ATOMIC_ACQUIRE   ? __ATOMIC_RELAXED
                               : constant == __ATOMIC_ACQ_REL ? __ATOMIC_RELEASE
                                                              : constant;
      __atomic_store(&value_, &value, possible);
    });
  }

  T exchange(T value, std::memory_order order) noexcept {
    return with_constant(order, [this, &value]<int constant>() {
      T result;
      __atomic_exchange(&value_, &value, &result, constant);
      return result;
    });
  }

  bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                               std::memory_order failure) noexcept {
    const bool done = with_constant(success, [&]<int constant>() {
      return __atomic_compare_exchange(&value_, &expected, &desired, false, constant,
                                       __ATOMIC_RELAXED);
    });
    // A second step, since compilers refuse a failure order beyond a weakened success order.
    if (!done && failure != std::memory_order_relaxed) static_cast<void>(load(failure));
    return done;
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                             std::memory_order failure) noexcept {
    return compare_exchange_strong(expected, desired, success, failure);
  }

  T fetch_add(T operand, std::memory_order order) noexcept {
    return with_constant(order, [this, operand]<int constant>() {
      return __atomic_fetch_add(&value_, operand, constant);
    });
  }
  T fetch_sub(T operand, std::memory_order order) noexcept {
    return with_constant(order, [this, operand]<int constant>() {
      return __atomic_fetch_sub(&value_, operand, constant);
    });
  }
  T fetch_or(T operand, std::memory_order order) noexcept {
    return with_constant(order, [this, operand]<int constant>() {
      return __atomic_fetch_or(&value_, operand, constant);
    });
  }
  T fetch_and(T operand, std::memory_order order) noexcept {
    return with_constant(order, [this, operand]<int constant>() {
      return __atomic_fetch_and(&value_, operand, constant);
    });
  }

  /// Waits without order, then loads: the load's order is the one to be weakened.
  void wait(T old, std::memory_order order) const noexcept {
    std::atomic_ref<T>(value_).wait(old, std::memory_order_relaxed);
    static_cast<void>(load(order));
  }
  void notify_one() noexcept { std::atomic_ref<T>(value_).notify_one(); }
  void notify_all() noexcept { std::atomic_ref<T>(value_).notify_all(); }

 private:
  // Mutable for wait(): atomic_ref takes no const.
  alignas(sizeof(T)) mutable T value_;
};

}  // namespace HEIST_NAMESPACE::detail::sync
