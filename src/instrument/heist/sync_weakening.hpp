// Weakening: which end of which edge a build with a weakened end, or a model, weakens. Included by
// heist/sync_weakened.hpp and heist/sync_model.hpp only.
#pragma once

#include <atomic>
#include <cstdint>
#include <heist/version.hpp>
#include <string_view>
#include <utility>

namespace HEIST_NAMESPACE::detail::sync {

// Marks on the order of an operation that is to be done wrong.
inline constexpr int torn_mark = 1 << 4;
inline constexpr int mute_mark = 1 << 5;

constexpr std::memory_order marked(std::memory_order order, int mark) noexcept {
  return static_cast<std::memory_order>(static_cast<int>(order) | mark);
}
constexpr bool has_mark(std::memory_order order, int mark) noexcept {
  return (static_cast<int>(order) & mark) != 0;
}
/// The order without marks.
constexpr std::memory_order unmarked(std::memory_order order) noexcept {
  return static_cast<std::memory_order>(static_cast<int>(order) & ~(torn_mark | mute_mark));
}

/// "structure:end:release" and "structure:end:acquire" take that half of the end's order away,
/// "structure:end:seq_cst" its place in the single total order, "structure:end" leaves nothing of
/// it. Models only: "structure:end:torn" keeps the order and makes read-modify-writes two steps;
/// with "structure:end:mute" stores are not made, and loads read what the object was made with.
struct Weakening {
  enum class Half : std::uint8_t { both, release, acquire, seq_cst, torn, mute };

  std::string_view end;
  Half half = Half::both;

  static Weakening named(std::string_view name) noexcept {
    constexpr std::pair<std::string_view, Half> halves[] = {{":release", Half::release},
                                                            {":acquire", Half::acquire},
                                                            {":seq_cst", Half::seq_cst},
                                                            {":torn", Half::torn},
                                                            {":mute", Half::mute}};
    for (const auto& [suffix, half] : halves) {
      if (name.ends_with(suffix)) return {name.substr(0, name.size() - suffix.size()), half};
    }
    return {name};
  }

  /// What is left of the order. A load has no release and a store no acquire to keep.
  [[nodiscard]] std::memory_order of(std::memory_order order) const noexcept {
    if (half == Half::torn) return marked(order, torn_mark);
    if (half == Half::mute) return marked(order, mute_mark);
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

}  // namespace HEIST_NAMESPACE::detail::sync
