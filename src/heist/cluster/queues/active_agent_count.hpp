// ActiveAgentCount: how many of a cluster's agents have been active so far. Nobody needs to look
// at the others.
#pragma once

#include <heist/detail/sync.hpp>

namespace HEIST_NAMESPACE::detail {

// Roles   agent: enlists once, before it enters an epoch.  looker: any agent.
// I1      The count only grows.
// Edge enlisted: raise <-> count. Enlist, then enter an epoch; unlink, then count.
class ActiveAgentCount {
 public:
  explicit ActiveAgentCount(unsigned count) noexcept : count_(count) {}

  /// The agents before `count` are active from now on.
  void raise(unsigned count) noexcept {
    unsigned old = count_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    while (old < count) {
      if (count_.compare_exchange_weak(old, count, sync::edge("enlisted:raise", sync::seq_cst),
                                       sync::relaxed)) {  // relaxed: a failure retries.
        return;
      }
    }
  }
  [[nodiscard]] unsigned count() const noexcept {
    return count_.load(sync::edge("enlisted:count", sync::seq_cst));
  }

 private:
  sync::atomic<unsigned> count_;
};

}  // namespace HEIST_NAMESPACE::detail
