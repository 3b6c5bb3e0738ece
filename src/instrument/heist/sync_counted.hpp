// The atomics of counting builds (HEIST_COUNTED): as std::atomic, and each operation is noted with
// its cache line. bench/compare divides the counts by the tasks run. Included by
// heist/detail/sync.hpp only.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <heist/version.hpp>
#include <string_view>

namespace heist::counted {

/// Summed over all threads; approximate while they run.
struct LineCounts {
  std::uint64_t shared_updates = 0;  ///< read-modify-writes on lines of several threads
  std::uint64_t remote_lines = 0;    ///< operations that took the line from another thread
};

enum class Touch : std::uint8_t { load, store, update };

/// Which threads have a copy of a cache line, as a coherent cache without limits would have it: a
/// load adds a copy, and a store or an update leaves one. A line's entry is lost when another line
/// with the same place in the table is touched; it then counts as untouched.
class LineTable {
 public:
  void touch(const void* address, Touch how) noexcept {
    const auto line = reinterpret_cast<std::uintptr_t>(address) / line_bytes;
    const std::size_t place = line % places;
    const std::atomic_ref entry(entries_[place]);
    const std::atomic_ref copies(copies_[place]);
    const std::uint64_t before = entry.load(std::memory_order_relaxed);
    const bool known = before >> 1 == line;
    const std::uint64_t had = known ? copies.load(std::memory_order_relaxed) : 0;
    const std::uint64_t mine = this_thread();
    const bool others = (had & ~mine) != 0;
    const bool shared = others || (known && (before & 1) != 0);
    const bool remote = how == Touch::load ? others && (had & mine) == 0 : others;
    copies.store(how == Touch::load ? had | mine : mine, std::memory_order_relaxed);
    entry.store(line << 1 | (shared ? 1 : 0), std::memory_order_relaxed);
    if (remote) note_remote(place);
    if (how == Touch::update && shared) shared_updates_.fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] LineCounts counts() const noexcept {
    return {shared_updates_.load(std::memory_order_relaxed),
            remote_lines_.load(std::memory_order_relaxed)};
  }
  /// How many of the remote lines since forget_busiest() were one and the same, the busiest.
  [[nodiscard]] std::uint64_t remote_of_busiest() const noexcept {
    return *std::ranges::max_element(remote_);
  }
  /// Called while no other thread touches anything.
  void forget_busiest() noexcept { remote_.fill(0); }

 private:
  static constexpr std::uintptr_t line_bytes = 64;

  /// A bit for each thread; threads in excess of 64 share bits.
  [[nodiscard]] static std::uint64_t this_thread() noexcept {
    static constinit std::atomic<std::uint64_t> threads{0};
    static thread_local const std::uint64_t number =
        threads.fetch_add(1, std::memory_order_relaxed);
    return std::uint64_t{1} << number % 64;
  }

  void note_remote(std::size_t place) noexcept {
    remote_lines_.fetch_add(1, std::memory_order_relaxed);
    std::atomic_ref(remote_[place]).fetch_add(1, std::memory_order_relaxed);
  }

  static constexpr std::size_t places = std::size_t{1} << 20;

  std::array<std::uint64_t, places> entries_{};  ///< the line, and whether several threads had it
  std::array<std::uint64_t, places> copies_{};   ///< who has a copy
  std::array<std::uint32_t, places> remote_{};   ///< remote touches of the line at each place
  std::atomic<std::uint64_t> shared_updates_{0};
  std::atomic<std::uint64_t> remote_lines_{0};
};

inline constinit LineTable line_table;

}  // namespace heist::counted

namespace HEIST_NAMESPACE::detail::sync {

/// As in a normal build.
[[nodiscard]] consteval std::memory_order edge(std::string_view /*name*/,
                                               std::memory_order order) noexcept {
  return order;
}

// NOLINTBEGIN(readability-identifier-naming): as std::atomic.

/// What the library uses of std::atomic, noted.
template <class T>
class atomic {
 public:
  constexpr atomic() noexcept : value_() {}
  // NOLINTNEXTLINE(google-explicit-constructor): as std::atomic.
  constexpr atomic(T value) noexcept : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  [[nodiscard]] T load(std::memory_order order) const noexcept { return access().load(order); }
  void store(T value, std::memory_order order) noexcept {
    counted::line_table.touch(this, counted::Touch::store);
    value_.store(value, order);
  }
  T exchange(T value, std::memory_order order) noexcept { return update().exchange(value, order); }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                               std::memory_order failure) noexcept {
    return update().compare_exchange_strong(expected, desired, success, failure);
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                             std::memory_order failure) noexcept {
    return update().compare_exchange_weak(expected, desired, success, failure);
  }
  T fetch_add(T operand, std::memory_order order) noexcept {
    return update().fetch_add(operand, order);
  }
  T fetch_sub(T operand, std::memory_order order) noexcept {
    return update().fetch_sub(operand, order);
  }
  T fetch_or(T operand, std::memory_order order) noexcept {
    return update().fetch_or(operand, order);
  }
  T fetch_and(T operand, std::memory_order order) noexcept {
    return update().fetch_and(operand, order);
  }
  void wait(T old, std::memory_order order) const noexcept { access().wait(old, order); }
  void notify_one() noexcept { value_.notify_one(); }
  void notify_all() noexcept { value_.notify_all(); }

 private:
  [[nodiscard]] const std::atomic<T>& access() const noexcept {
    counted::line_table.touch(this, counted::Touch::load);
    return value_;
  }
  [[nodiscard]] std::atomic<T>& update() noexcept {
    counted::line_table.touch(this, counted::Touch::update);
    return value_;
  }

  std::atomic<T> value_;
};

// NOLINTEND(readability-identifier-naming)

}  // namespace HEIST_NAMESPACE::detail::sync
