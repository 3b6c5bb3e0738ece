// StealableRing: the tasks of one level that an agent made runnable itself, or took over.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <heist/sync.hpp>
#include <span>

#include "spike_task.hpp"

namespace heist::spike {

// Roles   owner: the agent; pushes, and pops as anybody.  thief: any other agent.
// I1      Places head_..tail_ hold tasks; head_ and tail_ only grow, so a CAS of head_ that succeeds proves that the
//         places read before it were still held.
// I2      The owner reuses a place only after it has seen head_ behind it.
// Edge    spike_ring: publish -> search. Carries the tasks.
// Edge    spike_ring: claim -> reuse. The thief has read the place.
// D-edge  spike_ring: publish <-> search, as BinRing's.
// Progress  lock-free; push wait-free. No thread writes to the owner's tail_ line.
// Bound   Capacity; a full ring refuses.
// Proof   stress/spike/models.
template <unsigned Capacity>
class StealableRing {
 public:
  /// Owner. False when it is full.
  [[nodiscard]] bool push(SpikeTask& task) noexcept {
    const std::uint64_t tail = tail_.load(sync::relaxed);  // relaxed: the owner's own.
    if (tail - head_.load(sync::edge("spike_ring:reuse", sync::acquire)) == Capacity) return false;
    place(tail).store(&task, sync::relaxed);  // relaxed: tail_ publishes it.
    publish(tail + 1);
    return true;
  }

  /// Owner: as much of a chain as there is room for, published at once.   Returns the rest.
  [[nodiscard]] SpikeTask* push_chain(SpikeTask* oldest) noexcept {
    std::uint64_t tail = tail_.load(sync::relaxed);  // relaxed: the owner's own.
    const std::uint64_t end = head_.load(sync::edge("spike_ring:reuse", sync::acquire)) + Capacity;
    for (; oldest != nullptr && tail != end; oldest = oldest->next) {
      ++oldest->transfers;
      place(tail++).store(oldest, sync::relaxed);  // relaxed: tail_ publishes it.
    }
    publish(tail);
    return oldest;
  }

  /// Any agent: the oldest, at most half of them when several are wanted.   Returns how many.
  std::uint32_t claim(std::span<SpikeTask*> out) noexcept {
    std::uint64_t head = head_.load(sync::edge("spike_ring:search", sync::seq_cst));
    for (;;) {
      const std::uint64_t tail = tail_.load(sync::edge("spike_ring:search", sync::seq_cst));
      // A head_ read before a tail_ may be behind by more than there are places: the CAS fails then.
      const std::uint64_t most = std::min<std::uint64_t>((tail - head + 1) / 2, out.size());
      if (tail <= head) return 0;
      for (std::uint64_t i = 0; i < most; ++i) {
        out[i] = place(head + i).load(sync::relaxed);  // relaxed: used only if the CAS succeeds.
      }
      if (head_.compare_exchange_weak(head, head + most,
                                      sync::edge("spike_ring:claim", sync::seq_cst),
                                      sync::edge("spike_ring:search", sync::seq_cst))) {
        return static_cast<std::uint32_t>(most);
      }
    }
  }
  [[nodiscard]] SpikeTask* claim_one() noexcept {
    SpikeTask* one = nullptr;
    return claim({&one, 1}) == 1 ? one : nullptr;
  }
  [[nodiscard]] bool has_tasks() const noexcept {
    const auto head = head_.load(sync::edge("spike_ring:search", sync::seq_cst));
    return tail_.load(sync::edge("spike_ring:search", sync::seq_cst)) > head;
  }

  /// A checker's view.
  template <class Visit>
  void each_word(Visit&& visit) {
    visit(head_);
    visit(tail_);
  }
  [[nodiscard]] bool holds(const SpikeTask& task) const {
    for (auto at = head_.load(sync::relaxed); at < tail_.load(sync::relaxed); ++at) {
      if (places_[at % Capacity].load(sync::relaxed) == &task) return true;
    }
    return false;
  }

 private:
  sync::atomic<SpikeTask*>& place(std::uint64_t at) noexcept { return places_[at % Capacity]; }
  /// A read-modify-write, so that the loads of hint and sleepers that follow cannot come before it.
  void publish(std::uint64_t tail) noexcept {
    tail_.exchange(tail, sync::edge("spike_ring:publish", sync::seq_cst));
  }

  alignas(64) sync::atomic<std::uint64_t> head_{0};
  alignas(64) sync::atomic<std::uint64_t> tail_{0};
  alignas(64) std::array<sync::atomic<SpikeTask*>, Capacity> places_{};
};

}  // namespace heist::spike
