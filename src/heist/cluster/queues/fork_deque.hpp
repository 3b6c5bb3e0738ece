// ForkDeque: the continuations of one level that an agent has left behind in order to run a child
// first.
#pragma once

#include <array>
#include <cstdint>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/sync.hpp>

namespace HEIST_NAMESPACE::detail {

// This is the deque of Chase and Lev (SPAA 2005) with a fixed array, in the memory orders of Lê et
// al. (PPoPP 2013), but with sequentially consistent operations in place of the fences.
//
// Roles   owner: the agent; pushes, and takes back the youngest.  thief: any other agent; takes the
//         oldest.
// States  Places top_..bottom_ hold continuations. Each continuation is pushed once, and exactly
//         one agent takes it.
// I1      top_ only grows. So a thief's CAS that succeeds proves that the place that the thief read
//         before was still held.
// I2      The owner reuses a place only after it has seen top_ behind that place.
// I3      When pop() returns null, the deque is empty, because thieves take from the other end.
// Why     pop() lowers bottom_, then reads top_; steal() reads top_, then bottom_. When an owner
//         and a thief meet at the last place, one of them sees the other, or both CAS top_.
// Edge    forks: publish -> steal. Carries the frame of the continuation.
// Edge    forks: steal -> reuse. The thief has read the place.
// Edge    forks: take <-> steal. The pair above.
// D-edge  forks: publish <-> steal, as InjectionQueue's: what follows a push reads hint and
// sleepers behind it.
// Progress  push and pop are wait-free. steal is lock-free: it tries again only when another agent
//         took something.
// Bound   capacity; a full deque refuses.
// Proof   stress/model/models/fork_deque.cpp, stress/fork_join_stress.cpp, docs/adr/0015
template <unsigned capacity>
class ForkDeque {
 public:
  /// Called by the owner. Returns false when the deque is full.
  [[nodiscard]] bool push(LoopNode& continuation) noexcept {
    const std::uint64_t bottom = bottom_.load(sync::relaxed);  // relaxed: the owner's own.
    if (bottom - top_.load(sync::edge("forks:reuse", sync::acquire)) >= capacity) return false;
    place(bottom).store(&continuation, sync::relaxed);  // relaxed: bottom_ publishes it.
    bottom_.exchange(bottom + 1, sync::edge("forks:publish", sync::seq_cst));
    return true;
  }

  /// Called by the owner: takes back the youngest continuation. Returns null when that was stolen;
  /// every older one was then stolen as well.
  [[nodiscard]] LoopNode* pop() noexcept {
    const std::uint64_t last = bottom_.load(sync::relaxed) - 1;  // relaxed: the owner's own.
    bottom_.exchange(last, sync::edge("forks:take", sync::seq_cst));
    std::uint64_t top = top_.load(sync::edge("forks:take", sync::seq_cst));
    LoopNode* youngest = place(last).load(sync::relaxed);  // relaxed: the owner wrote it.
    if (top < last) return youngest;
    const bool ours =
        top == last && top_.compare_exchange_strong(
                           top, last + 1, sync::edge("forks:take", sync::seq_cst),
                           sync::relaxed);   // relaxed: nothing is read on the strength of it.
    bottom_.store(last + 1, sync::relaxed);  // relaxed: it says "empty", as what top_ is now does.
    return ours ? youngest : nullptr;
  }

  /// Called by any other agent: takes the oldest continuation, or returns null.
  [[nodiscard]] LoopNode* steal() noexcept {
    std::uint64_t top = top_.load(sync::edge("forks:steal", sync::seq_cst));
    while (top < bottom_.load(sync::edge("forks:steal", sync::seq_cst))) {
      // relaxed: used only if the CAS succeeds.
      LoopNode* oldest = place(top).load(sync::relaxed);
      if (top_.compare_exchange_strong(top, top + 1, sync::edge("forks:steal", sync::seq_cst),
                                       sync::edge("forks:steal", sync::seq_cst))) {
        return oldest;
      }
    }
    return nullptr;
  }
  [[nodiscard]] bool has_tasks() const noexcept {
    const auto top = top_.load(sync::edge("forks:steal", sync::seq_cst));
    return top < bottom_.load(sync::edge("forks:steal", sync::seq_cst));
  }

 private:
  friend struct QueueProbe;
  sync::atomic<LoopNode*>& place(std::uint64_t at) noexcept { return places_[at % capacity]; }

  // Both begin at 1, because an owner that takes from an empty deque lowers bottom_ by one.
  alignas(64) sync::atomic<std::uint64_t> top_{1};
  alignas(64) sync::atomic<std::uint64_t> bottom_{1};
  alignas(64) std::array<sync::atomic<LoopNode*>, capacity> places_{};
};

}  // namespace HEIST_NAMESPACE::detail
