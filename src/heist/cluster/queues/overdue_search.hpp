// OverdueSearch: finds the stealable task that has been late for longest (contract WAIT).
#pragma once

#include <array>
#include <cstdint>
#include <heist/detail/levels.hpp>
#include <heist/detail/loop_node.hpp>
#include <heist/priority.hpp>
#include <optional>

#include "level_index.hpp"
#include "signal_queues.hpp"

namespace HEIST_NAMESPACE::detail {

/// How long tasks of each priority may wait, in the unit of their stamps; zero: for ever.
using LongestWaits = std::array<std::uint64_t, level_count / 2>;

/// Converts the public setting to nanoseconds.
[[nodiscard]] inline LongestWaits longest_waits_of(const MaxWait& max_wait) noexcept {
  LongestWaits waits{};
  for (const auto priority :
       {TaskPriority::background, TaskPriority::user_visible, TaskPriority::user_blocking}) {
    waits[static_cast<std::size_t>(priority)] =
        static_cast<std::uint64_t>(max_wait.of(priority).count());
  }
  return waits;
}

/// One agent's look, inside an epoch. Of the tasks that it is shown it remembers the one whose
/// maximum wait ended first. It takes nothing before it has seen all of them.
template <class Ring>
class OverdueSearch {
 public:
  using Stamp = std::uint64_t;

  /// Searches for a task that has become late by `now`, and before `limit`.
  OverdueSearch(const LongestWaits& most, Stamp now, Stamp limit) noexcept
      : most_(most), now_(now), end_(limit) {}

  [[nodiscard]] bool wants(int level) const noexcept { return most_of(level) != 0; }
  void look(int level, Ring& ring) noexcept {
    const auto front = ring.front();
    if (front && is_first(level, front->stamp)) found_ = {level, &ring, *front, nullptr, {}};
  }
  void look(int level, SignalQueue& queue, const LinkedQueue::Front& front) noexcept {
    const Stamp stamp = static_cast<const SignalQueueEntry*>(front.cell)->stamp;
    if (is_first(level, stamp)) found_ = {level, nullptr, {}, &queue, front};
  }

  /// The level of the task that was found, or -1 when nothing is late.
  [[nodiscard]] int level() const noexcept { return found_.level; }
  /// Takes the task that was found. Returns null when another agent has taken it.   Precondition:
  /// level() >= 0.
  [[nodiscard]] LoopNode* take(LevelIndex& index, unsigned agent) const noexcept {
    if (found_.ring != nullptr) return found_.ring->claim(found_.in_ring);
    return index.take(agent, *found_.queue, found_.in_queue);
  }
  [[nodiscard]] bool is_in_ring_of_other(const Ring& own) const noexcept {
    return found_.ring != nullptr && found_.ring != &own;
  }

 private:
  struct Found {
    int level = -1;
    Ring* ring = nullptr;
    Ring::Front in_ring;
    SignalQueue* queue = nullptr;
    LinkedQueue::Front in_queue;
  };

  [[nodiscard]] Stamp most_of(int level) const noexcept {
    return most_[static_cast<std::size_t>(level / 2)];
  }
  bool is_first(int level, Stamp stamp) noexcept {
    const Stamp end = stamp + most_of(level);
    if (end > now_ || end >= end_) return false;
    end_ = end;
    return true;
  }

  const LongestWaits& most_;
  const Stamp now_;
  Stamp end_;  ///< when the maximum wait of the found task ended
  Found found_;
};

}  // namespace HEIST_NAMESPACE::detail
