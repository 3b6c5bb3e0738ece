// LateDrops: what a thread cannot deliver is dropped at the end of a scope, and not within it.
#pragma once

#include <heist/detail/forward.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// While an object of this class lives, reactions whose loop is closed are not dropped by the
/// calling thread, but collected. Its destructor drops them, and those that come by that, one after
/// the other, so that a long chain of them takes no stack. Within another such object it leaves
/// them to that one, unless a loop is driven in between, which may need them to go on.
///
/// Thread: one; objects nest.
class LateDrops {
 public:
  LateDrops() noexcept;
  LateDrops(const LateDrops&) = delete;
  LateDrops& operator=(const LateDrops&) = delete;
  ~LateDrops();

 private:
  const LateDrops* const outer_;
  const LoopCore* const on_;  ///< the loop that runs here, or null
};

}  // namespace HEIST_NAMESPACE::detail
