// StealableRing: the tasks of one level that an agent itself made runnable, or took over.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/sync.hpp>
#include <memory>
#include <optional>
#include <span>

namespace HEIST_NAMESPACE::detail {

// Roles   owner: the agent; pushes, and pops as any agent does.  thief: any other agent.
// I1      Places head_..tail_ hold tasks. head_ and tail_ only grow, so a CAS of head_ that
//         succeeds proves that the places that were read before it were still held.
// I2      The owner reuses a place only after it has seen head_ behind that place.
// I3      With stamps, the stamp of a place is that of its task. By I1 and I2, whoever claims the
//         place after it read the stamp has read the stamp of the claimed task.
// Edge ring: publish -> search. Carries the tasks.
// Edge ring: claim -> reuse. The thief has read the place.
// Edge ring: publish <-> search. Works as InjectionQueue's edge of this name.
// Progress  lock-free; push is wait-free. No thread but the owner writes to the line of tail_.
// Bound   capacity; a full ring refuses a task. `kept` places are for push_chain() only.
// Proof   stress/model/models/cluster_{queues,hint}.cpp.
template <unsigned capacity, unsigned kept>
class StealableRing {
 public:
  /// The time since when a task waits. The task has it as its key (contract WAIT).
  using Stamp = std::uint64_t;

  /// To be called before the ring is used, if front() will be called.   Errors: std::bad_alloc.
  void keep_stamps() { stamps_ = std::make_unique<Stamps>(); }

  /// Called by the owner. Returns false when the only free places are those kept for the tasks that
  /// the owner takes over.
  [[nodiscard]] bool push(LoopNode& task) noexcept {
    const std::uint64_t tail = tail_.load(sync::relaxed);  // relaxed: the owner's own.
    const std::uint64_t held = tail - head_.load(sync::edge("ring:reuse", sync::acquire));
    if (held >= capacity - kept) return false;
    put(tail, task);
    publish(tail + 1);
    return true;
  }

  /// Called by the owner: publishes, at once, as much of a chain as there is room for. Returns the
  /// rest.
  [[nodiscard]] LoopNode* push_chain(LoopNode* oldest) noexcept {
    std::uint64_t tail = tail_.load(sync::relaxed);  // relaxed: the owner's own.
    const std::uint64_t end = head_.load(sync::edge("ring:reuse", sync::acquire)) + capacity;
    for (; oldest != nullptr && tail != end; oldest = oldest->next) {
      put(tail++, *oldest);
    }
    publish(tail);
    return oldest;
  }

  /// Called by any agent: claims the oldest tasks, at most half of all when several are wanted.
  /// Returns how many it has claimed.
  std::uint32_t claim(std::span<LoopNode*> out) noexcept {
    std::uint64_t head = head_.load(sync::edge("ring:search", sync::seq_cst));
    for (;;) {
      const std::uint64_t tail = tail_.load(sync::edge("ring:search", sync::seq_cst));
      // A head_ that was read before tail_ may be behind tail_ by more than there are places. The
      // CAS fails then.
      const std::uint64_t most = std::min<std::uint64_t>((tail - head + 1) / 2, out.size());
      if (tail <= head) return 0;
      for (std::uint64_t i = 0; i < most; ++i) {
        out[i] = place(head + i).load(sync::relaxed);  // relaxed: used only if the CAS succeeds.
      }
      if (head_.compare_exchange_weak(head, head + most, sync::edge("ring:claim", sync::seq_cst),
                                      sync::edge("ring:search", sync::seq_cst))) {
        return static_cast<std::uint32_t>(most);
      }
    }
  }
  /// Called by the owner: whether push_chain() has room for `count` tasks.
  [[nodiscard]] bool has_room(unsigned count) const noexcept {
    const std::uint64_t tail = tail_.load(sync::relaxed);  // relaxed: the owner's own.
    return tail - head_.load(sync::edge("ring:reuse", sync::acquire)) + count <= capacity;
  }

  /// The oldest task: its place, and since when it waits.
  struct Front {
    std::uint64_t place = 0;
    Stamp stamp = 0;
  };
  /// Called by any agent. The stamp is certain only once claim() of this task has succeeded.
  [[nodiscard]] std::optional<Front> front() const noexcept {
    std::uint64_t head = head_.load(sync::edge("ring:search", sync::seq_cst));
    while (tail_.load(sync::edge("ring:search", sync::seq_cst)) > head) {
      // relaxed: claim() proves it, as it proves a place.
      const Stamp stamp = (*stamps_)[head % capacity].load(sync::relaxed);
      const auto still = head_.load(sync::edge("ring:search", sync::seq_cst));
      if (still == head) return Front{head, stamp};
      head = still;
    }
    return std::nullopt;
  }
  /// Called by any agent: claims this task and no other. Returns null when another agent has it.
  [[nodiscard]] LoopNode* claim(const Front& front) noexcept {
    std::uint64_t head = front.place;
    LoopNode* task = place(head).load(sync::relaxed);  // relaxed: used only if the CAS succeeds.
    const bool is_ours =
        head_.compare_exchange_strong(head, head + 1, sync::edge("ring:claim", sync::seq_cst),
                                      sync::relaxed);  // relaxed: nothing is read then.
    return is_ours ? task : nullptr;
  }
  [[nodiscard]] LoopNode* claim_one() noexcept {
    LoopNode* one = nullptr;
    return claim({&one, 1}) == 1 ? one : nullptr;
  }
  /// Called by any thread: how many tasks there were a moment ago.
  [[nodiscard]] std::size_t count() const noexcept {
    // relaxed, both: a statistic.
    const auto head = head_.load(sync::relaxed);
    const auto tail = tail_.load(sync::relaxed);
    return tail > head ? static_cast<std::size_t>(tail - head) : 0;
  }
  [[nodiscard]] bool has_tasks() const noexcept {
    const auto head = head_.load(sync::edge("ring:search", sync::seq_cst));
    return tail_.load(sync::edge("ring:search", sync::seq_cst)) > head;
  }

 private:
  friend struct QueueProbe;
  using Stamps = std::array<sync::atomic<Stamp>, capacity>;

  void put(std::uint64_t at, LoopNode& task) noexcept {
    place(at).store(&task, sync::relaxed);  // relaxed: tail_ publishes it.
    if (stamps_ != nullptr) [[unlikely]]
      (*stamps_)[at % capacity].store(task.key, sync::relaxed);  // relaxed: as above.
  }
  sync::atomic<LoopNode*>& place(std::uint64_t at) noexcept { return places_[at % capacity]; }
  /// Uses a read-modify-write, so that the loads of hint and sleepers that follow cannot come
  /// before it.
  void publish(std::uint64_t tail) noexcept {
    tail_.exchange(tail, sync::edge("ring:publish", sync::seq_cst));
  }

  alignas(64) sync::atomic<std::uint64_t> head_{0};
  alignas(64) sync::atomic<std::uint64_t> tail_{0};
  alignas(64) std::array<sync::atomic<LoopNode*>, capacity> places_{};
  std::unique_ptr<Stamps> stamps_;
};

}  // namespace HEIST_NAMESPACE::detail
