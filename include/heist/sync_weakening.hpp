// Weakening: which end of which edge a mutant or model-checking build weakens. Included by
// heist/sync_mutant.hpp and heist/sync_model.hpp only.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace heist::sync {

/// "structure:end:release" and "structure:end:acquire" take that half of the end's order away,
/// "structure:end:seq_cst" its place in the single total order, "structure:end" leaves nothing of it.
struct Weakening {
  enum class Half : std::uint8_t { both, release, acquire, seq_cst };

  std::string_view end;
  Half half = Half::both;

  static Weakening named(std::string_view name) noexcept {
    constexpr std::string_view release = ":release";
    constexpr std::string_view acquire = ":acquire";
    constexpr std::string_view seq_cst = ":seq_cst";
    if (name.ends_with(release)) {
      return {name.substr(0, name.size() - release.size()), Half::release};
    }
    if (name.ends_with(acquire)) {
      return {name.substr(0, name.size() - acquire.size()), Half::acquire};
    }
    if (name.ends_with(seq_cst)) {
      return {name.substr(0, name.size() - seq_cst.size()), Half::seq_cst};
    }
    return {name};
  }

  /// What is left of the order. A load has no release and a store no acquire to keep.
  [[nodiscard]] std::memory_order of(std::memory_order order) const noexcept {
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
