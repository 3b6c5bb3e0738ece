// AgentQueues: the stealable tasks that one agent of a cluster has, and the counts of its picks.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <heist/detail/levels.hpp>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/sync.hpp>
#include <heist/priority.hpp>

#include "../../concurrent/tracing.hpp"
#include "../../os/probe.hpp"
#include "fork_deque.hpp"
#include "source_rotation.hpp"
#include "stealable_ring.hpp"

namespace HEIST_NAMESPACE::detail {

/// The sizes of all queues of a cluster.
struct ClusterSizes {
  unsigned bins = 1U << 14;
  unsigned bin = 31;     ///< K: the most tasks that are in transfer at once
  unsigned ring = 256;   ///< at least two bins
  unsigned forks = 256;  ///< the most calls on an agent's stack whose callers may go on elsewhere
  /// Every 61st pick of a level looks at the other agents' tasks first, so that local work cannot
  /// starve them.
  unsigned others_turn = 61;
  unsigned levels = level_count;
};

/// Any agent of the cluster may use the rings and deques, as their own contracts say. Only this
/// agent may use the rest.
template <ClusterSizes sizes>
class alignas(64) AgentQueues {
 public:
  using Ring = StealableRing<sizes.ring, sizes.bin>;
  using Forks = ForkDeque<sizes.forks>;

  /// Whether the level has a deque. Only levels of continuations have one, because agents leave
  /// only continuations behind.
  static bool has_forks(int level) noexcept { return level % 2 == 1; }

  Ring& ring(int level) noexcept { return rings_[static_cast<std::size_t>(level)]; }
  const Ring& ring(int level) const noexcept { return rings_[static_cast<std::size_t>(level)]; }
  Forks& forks(int level) noexcept { return forks_[static_cast<std::size_t>(level / 2)]; }
  SourceRotation& turns(int level) noexcept { return turns_[static_cast<std::size_t>(level)]; }

  /// Notes that the agent's ring of this level may hold something. Returns false when that was
  /// noted already.
  bool note_tasks(int level) noexcept { return note(rings_noted_, level); }
  void forget_tasks(int level) noexcept { rings_noted_ &= ~(1U << level); }
  /// The highest level at which the agent's rings may hold something, or -1.
  [[nodiscard]] int highest_noted() const noexcept {
    return static_cast<int>(std::bit_width(rings_noted_)) - 1;
  }
  /// Does as note_tasks() for the deque of this level.
  bool note_forks(int level) noexcept { return note(forks_noted_, level); }
  /// Returns whether that was noted.
  bool forget_forks(int level) noexcept {
    const bool was_noted = (forks_noted_ >> level & 1) != 0;
    forks_noted_ &= ~(1U << level);
    return was_noted;
  }
  [[nodiscard]] bool has_noted_forks() const noexcept { return forks_noted_ != 0; }
  /// Takes a task from the agent's own ring. Returns null when the ring is empty.
  LoopNode* claim(int level) noexcept {
    note_pick(level);
    return ring(level).claim_one();
  }
  void note_pick(int level) noexcept { picked_ = level; }
  /// The level of what the agent took last.
  [[nodiscard]] int picked_level() const noexcept { return picked_; }

  /// `first` is the first of them, and the agent `from` had them, if that is known.
  void count_stolen(std::uint32_t count, const LoopNode& first, unsigned from) noexcept {
    HEIST_PROBE(steal, &first, count, from);
    // relaxed: a statistic with one writer.
    stolen_.store(stolen_.load(sync::relaxed) + count, sync::relaxed);
    if (Tracing::is_on()) [[unlikely]] {
      Tracing::record({.what = &first,
                       .kind = TraceKind::steal,
                       .from = static_cast<std::uint16_t>(from),
                       .count = static_cast<std::uint16_t>(count)});
    }
  }
  /// Thread: any.
  [[nodiscard]] std::uint64_t stolen() const noexcept {
    return stolen_.load(sync::relaxed);  // relaxed: a statistic.
  }

 private:
  static bool note(unsigned& noted, int level) noexcept {
    if ((noted >> level & 1) != 0) return false;
    noted |= 1U << level;
    return true;
  }

  std::array<Ring, sizes.levels> rings_;
  std::array<Forks, sizes.levels / 2> forks_;
  // Only the agent touches these.
  alignas(64) unsigned rings_noted_ = 0;  ///< a bit for each level, as TaskHolders has it
  unsigned forks_noted_ = 0;              ///< the same for the deques
  int picked_ = -1;
  std::array<SourceRotation, sizes.levels> turns_;
  sync::atomic<std::uint64_t> stolen_{0};
};

}  // namespace HEIST_NAMESPACE::detail
