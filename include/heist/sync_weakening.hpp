// Weakening: which end of which edge a mutant or model-checking build weakens. Included by
// heist/sync_mutant.hpp and heist/sync_model.hpp only.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>

namespace heist::sync {

/// Marks the order of a read-modify-write that is to be two steps.
inline constexpr int torn_mark = 1 << 4;
constexpr std::memory_order torn(std::memory_order order) noexcept {
  return static_cast<std::memory_order>(static_cast<int>(order) | torn_mark);
}
constexpr bool is_torn(std::memory_order order) noexcept {
  return (static_cast<int>(order) & torn_mark) != 0;
}
/// The order without the mark.
constexpr std::memory_order whole(std::memory_order order) noexcept {
  return static_cast<std::memory_order>(static_cast<int>(order) & ~torn_mark);
}

/// "structure:end:release" and "structure:end:acquire" take that half of the end's order away,
/// "structure:end:seq_cst" its place in the single total order, "structure:end" leaves nothing of it.
/// "structure:end:torn" keeps the order and makes read-modify-writes two steps (models only).
struct Weakening {
  enum class Half : std::uint8_t { both, release, acquire, seq_cst, torn };

  std::string_view end;
  Half half = Half::both;

  static Weakening named(std::string_view name) noexcept {
    constexpr std::pair<std::string_view, Half> halves[] = {{":release", Half::release},
                                                            {":acquire", Half::acquire},
                                                            {":seq_cst", Half::seq_cst},
                                                            {":torn", Half::torn}};
    for (const auto& [suffix, half] : halves) {
      if (name.ends_with(suffix)) return {name.substr(0, name.size() - suffix.size()), half};
    }
    return {name};
  }

  /// What is left of the order. A load has no release and a store no acquire to keep.
  [[nodiscard]] std::memory_order of(std::memory_order order) const noexcept {
    if (half == Half::torn) return torn(order);
    if (half == Half::seq_cst) {
      return order == std::memory_order_seq_cst ? std::memory_order_acq_rel : order;
    }
    if (half == Half::acquire && order != std::memory_order_acquire) {
      return std::memory_order_release;
    }
    if (half == Half::release && order != std::memory_order_release) {
      return std::memory_order_acquire;
    }
    return std::memory_order_relaxed;
  }
};

}  // namespace heist::sync
