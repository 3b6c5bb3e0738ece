// AbortSweep: decides when aborted tasks are taken out of the queues of a cluster that no agent
// comes to, and remembers how far the sweep has come.
#pragma once

#include <cstdint>
#include <heist/detail/sync.hpp>

namespace HEIST_NAMESPACE::detail {

/// How far a sweep has come (ClusterQueues::sweep), and how many tasks and continuations it has
/// left in the queues so far.
struct SweepPlace {
  int level = 0;
  unsigned group = 0;  ///< whose bins
  std::uint64_t bin = 0;
  std::uint64_t end = 0;  ///< the end of these bins; 0: they are not begun
  bool is_in_bins = true;
  std::uint64_t left = 0;
};

// A sweep goes once through all queues, in portions. Whichever agent picks does the next portion. A
// sweep is due when the number of tasks aborted since has reached half of what the last sweep left
// in the queues, plus a margin. So a sweep costs each abort O(1), and it bounds how many aborted
// tasks stand in queues to which the agents do not come (contract LIF-5, ABT-5).
//
// Roles   counter: any thread that learns of aborts.  sweeper: an agent, one at a time.
// I1      Only the sweeper touches the place. The sweeper raises until_due_ only when it ends a
//         sweep.
// Edge sweep: end -> begin. Carries the place.
// Progress  lock-free. A sweeper that is stopped stops the sweeping, and the tasks that it has in
//         hand (at most K) wait for it.
// Bound   dead <= living / 2 + margin when a sweep begins. While a sweep is under way: a quarter of
//         what the agents destroy meanwhile.
// Proof   stress/model/models/cluster_aborts.cpp, stress/aborted_stress.cpp
class AbortSweep {
 public:
#if defined(HEIST_MODEL)
  static constexpr std::int64_t margin = 1;
#else
  static constexpr std::int64_t margin = 256;
#endif

  void count_aborts(std::int64_t count) noexcept {
    until_due_.fetch_sub(count, sync::relaxed);  // relaxed: only decides when to sweep.
  }
  [[nodiscard]] bool is_due() const noexcept {
    return until_due_.load(sync::relaxed) <= 0;  // relaxed: as above.
  }
  /// Makes the caller the sweeper, and returns the sweep's place. Returns null when another agent
  /// sweeps, or has ended the sweep.
  [[nodiscard]] SweepPlace* try_begin() noexcept {
    if (is_taken_.exchange(true, sync::edge("sweep:begin", sync::acquire))) return nullptr;
    if (is_due()) return &place_;
    end(true);
    return nullptr;
  }
  /// Called by the sweeper after its portion. `goes_on` says that more portions have to follow.
  void end(bool goes_on) noexcept {
    if (!goes_on) begin_anew();
    is_taken_.store(false, sync::edge("sweep:end", sync::release));
  }

 private:
  void begin_anew() noexcept {
    // Tasks that were aborted since this sweep became due may have come too late for it. So they
    // count for the next sweep.
    const auto more = static_cast<std::int64_t>(place_.left / 2) + margin;
    until_due_.fetch_add(more, sync::relaxed);  // relaxed: as above.
    place_ = {};
  }

  sync::atomic<std::int64_t> until_due_{margin};
  sync::atomic<bool> is_taken_{false};
  SweepPlace place_;
};

}  // namespace HEIST_NAMESPACE::detail
