// ChildCount: the forked children of a coroutine that run beside it.
#pragma once

#include <cstdint>
#include <heist/detail/sync.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

// Roles   parent: whoever runs the coroutine; one at a time.  child: one that has ended, on the
//         thread that ran it.
// States  ended_: how many have ended (the parent runs), or that number less away_ (the parent
//         waits).
// I1      A child counts itself once, and only when the parent's continuation was stolen from it:
//         away_ is how many do so between two joins, known to the parent before it goes on.
// I2      ended_ gets from -1 to 0 only while the parent waits, with its last child: that one runs
//         the parent from there on.
// Edge    children: end -> end, wait, look. Carries the child's result to the parent; RMWs extend
//         each other's releases.
// Edge    children: wait -> end. Carries the parent's frame to the last child.
// Progress  wait-free.   Proof  stress/model/models/fork_deque.cpp
class ChildCount {
 public:
  /// The parent: its continuation was stolen, so that one child more runs beside it.
  void add() noexcept { ++away_; }

  /// The parent, which goes on: whether none of its children runs any more.   Cost: nothing without
  /// thefts, else a load.
  [[nodiscard]] bool all_ended() noexcept {
    if (away_ == 0) return true;
    if (ended_.load(sync::edge("children:look", sync::acquire)) != away_) return false;
    restart();
    return true;
  }

  /// The parent, which is to stop: whether it may go on at once. Otherwise the child that ends last
  /// runs it, and it may do so by now.
  [[nodiscard]] bool wait() noexcept {
    if (away_ == 0) return true;
    const std::int32_t away = away_;
    if (ended_.fetch_sub(away, sync::edge("children:wait", sync::acq_rel)) != away) return false;
    away_ = 0;
    return true;
  }

  /// Called by a child that has ended beside its parent, which may be gone afterwards. Returns true
  /// when the parent waits, was waiting for this one, and is the caller's to run.
  [[nodiscard]] bool end_child() noexcept {
    if (ended_.fetch_add(1, sync::edge("children:end", sync::acq_rel)) != -1) return false;
    away_ = 0;
    return true;
  }

 private:
  void restart() noexcept {
    away_ = 0;
    ended_.store(0,
                 sync::relaxed);  // relaxed: no child is left; the next ones come behind a theft.
  }

  std::int32_t away_ = 0;
  sync::atomic<std::int32_t> ended_{0};
};

}  // namespace HEIST_NAMESPACE::detail
