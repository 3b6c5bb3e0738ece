// The atomics seam: every atomic of the runtime is declared through this header, so that a build
// can replace it (a model checker, builds with a weakened end, or one that counts). See
// docs/adr/0001. The replacements are in src/instrument. They are for those builds only and are not
// installed.
#pragma once

#include <atomic>
#include <heist/version.hpp>
#include <string_view>

#if defined(HEIST_WEAKENED)
#include <heist/sync_weakened.hpp>
#elif defined(HEIST_MODEL)
#include <heist/sync_model.hpp>
#elif defined(HEIST_COUNTED)
#include <heist/sync_counted.hpp>
#else

namespace HEIST_NAMESPACE::detail::sync {

using std::atomic;  // what compares binary interfaces takes all types of an alias template for one

/// Memory order of one end of a named happens-before edge, e.g. `edge("inbox:publish", release)`.
///
/// The name is "<structure>:<end>"; the contract block of the structure lists the edge and says
/// what it carries. Normal builds: the order itself, at compile time. Builds with HEIST_WEAKENED
/// weaken the one end named by the environment variable HEIST_WEAKEN.
[[nodiscard]] consteval std::memory_order edge(std::string_view /*name*/,
                                               std::memory_order order) noexcept {
  return order;
}

}  // namespace HEIST_NAMESPACE::detail::sync

#endif

namespace HEIST_NAMESPACE::detail::sync {

inline constexpr std::memory_order relaxed = std::memory_order_relaxed;
inline constexpr std::memory_order acquire = std::memory_order_acquire;
inline constexpr std::memory_order release = std::memory_order_release;
inline constexpr std::memory_order acq_rel = std::memory_order_acq_rel;
inline constexpr std::memory_order seq_cst = std::memory_order_seq_cst;

}  // namespace HEIST_NAMESPACE::detail::sync
