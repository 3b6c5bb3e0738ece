// AbortSweep: when aborted tasks leave the queues of a cluster that no agent comes to, and how far
// that is.
#pragma once

#include <cstdint>
#include <heist/detail/sync.hpp>

namespace HEIST_NAMESPACE::detail {

/// How far a sweep has come (ClusterQueues::sweep), and how many tasks and continuations it has
/// left in the queues so far.
struct SweepPlace {
  int level = 0;
  std::uint64_t bin = 0;
  std::uint64_t end = 0;  ///< of this level's bins; 0: not begun
  bool is_in_bins = true;
  std::uint64_t left = 0;
};

// A sweep goes through all queues once, in portions, by whichever agent picks. It is due when as
// many tasks were aborted as half of what the last one has left there, and a margin: so it costs
// each abort O(1), and what is aborted stays in front of agents that do not come to it only up to
// such a number (contract LIF-5, ABT-5).
//
// Roles   counter: whoever learns of aborts.  sweeper: an agent, one at a time.
// I1      Only the sweeper touches the place. It raises until_due_ only at the end of a sweep.
// Edge sweep: end -> begin. Carries the place.
// Progress  lock-free; a sweeper that is stopped stops sweeping, and what it has in hand waits for
//         it (at most K).
// Bound   dead <= living / 2 + margin when a sweep begins; while it is under way, a quarter of what
//         agents destroy meanwhile.
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
  /// Makes the caller the sweeper, and gives the sweep's place; null when another agent sweeps, or
  /// has ended the sweep.
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
    // What was aborted since this sweep became due may have come too late for it: it counts for the
    // next one.
    const auto more = static_cast<std::int64_t>(place_.left / 2) + margin;
    until_due_.fetch_add(more, sync::relaxed);  // relaxed: as above.
    place_ = {};
  }

  sync::atomic<std::int64_t> until_due_{margin};
  sync::atomic<bool> is_taken_{false};
  SweepPlace place_;
};

}  // namespace HEIST_NAMESPACE::detail
