// QueueProbe: what models ask of the queues that agents share, and the library does not.
#pragma once

#include "cluster/queues/cluster_queues.hpp"

namespace HEIST_NAMESPACE::detail {

/// The queues name it as their friend. Its relaxed loads are read by nobody but a check.
struct QueueProbe {
  /// Visits all words that say whether a task is queued.
  template <unsigned bins, unsigned most, class Visit>
  static void each_word(InjectionQueue<bins, most>& queue, Visit&& visit) {
    visit(queue.head_);
    for (auto& bin : queue.bins_) visit(bin);
  }
  /// The same for one level.
  template <ClusterSizes sizes, class Sleepers, class Visit>
  static void each_word(ClusterQueues<sizes, Sleepers>& queues, int level, Visit&& visit) {
    for (auto& bins : queues.bins_) each_word(bins[static_cast<std::size_t>(level)], visit);
    for (unsigned agent = 0; agent < queues.agents_.size(); ++agent) {
      auto& ring = queues.own(agent, level);
      visit(ring.head_);
      visit(ring.tail_);
      if (!AgentQueues<sizes>::has_forks(level)) continue;
      auto& forks = queues.forks(agent, level);
      visit(forks.top_);
      visit(forks.bottom_);
    }
  }

  template <ClusterSizes sizes, class Sleepers>
  [[nodiscard]] static bool holds(ClusterQueues<sizes, Sleepers>& queues, int level,
                                  const LoopNode& task) {
    bool found = false;
    for (auto& bins : queues.bins_) found |= bins_hold(bins[static_cast<std::size_t>(level)], task);
    for (unsigned agent = 0; agent < queues.agents_.size(); ++agent) {
      found |= ring_holds(queues.own(agent, level), task);
    }
    return found;
  }
  /// Only exact while no cell is freed.
  [[nodiscard]] static bool is_empty(const SignalQueue& queue) noexcept {
    return queue.tasks_.empty();
  }

  template <ClusterSizes sizes, class Sleepers>
  [[nodiscard]] static UrgencyHint& hint(ClusterQueues<sizes, Sleepers>& queues) noexcept {
    return queues.hint_;
  }

 private:
  template <class Queue>
  [[nodiscard]] static bool bins_hold(const Queue& queue, const LoopNode& task) {
    for (const auto& bin : queue.bins_) {
      for (auto* at = Queue::chain(bin.load(sync::relaxed)); at != nullptr; at = at->next) {
        if (at == &task) return true;
      }
    }
    return false;
  }
  template <unsigned capacity, unsigned kept>
  [[nodiscard]] static bool ring_holds(const StealableRing<capacity, kept>& ring,
                                       const LoopNode& task) {
    for (auto at = ring.head_.load(sync::relaxed); at < ring.tail_.load(sync::relaxed); ++at) {
      if (ring.places_[at % capacity].load(sync::relaxed) == &task) return true;
    }
    return false;
  }
};

}  // namespace HEIST_NAMESPACE::detail
