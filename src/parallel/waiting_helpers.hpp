// WaitingHelpers: knows which helpers wait and may be let go.
#pragma once

#include <heist/detail/sync.hpp>
#include <vector>

namespace HEIST_NAMESPACE::detail {

/// Roles   helper: an agent, which waits.  taker: the thread that takes the last offer, or the
///         helper itself.
/// I1      Only one of the takers gets the helper. The helper stays until then.
/// Edge waiting: announce -> let_go. Carries what the helper has made.
/// Edge waiting: announce, take <-> let_go, offered. A helper announces that it waits, then looks
///         whether anything is offered. The last offer is taken (HelperCount), then those who wait
///         are let go. So no helper waits without an offer.
/// Progress  wait-free.
template <class Helper>
class WaitingHelpers {
 public:
  /// Errors: std::bad_alloc.
  explicit WaitingHelpers(unsigned agents) : helpers_(agents) {}

  void announce(unsigned agent, Helper& helper) noexcept {
    helpers_[agent].store(&helper, sync::edge("waiting:announce", sync::seq_cst));
  }
  /// Returns null when the agent does not wait, or when another thread has let it go.
  [[nodiscard]] Helper* let_go(unsigned agent) noexcept {
    return helpers_[agent].exchange(nullptr, sync::edge("waiting:let_go", sync::seq_cst));
  }

 private:
  std::vector<sync::atomic<Helper*>> helpers_;
};

}  // namespace HEIST_NAMESPACE::detail
