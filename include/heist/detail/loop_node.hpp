// LoopNode: the links of everything an event loop holds in a list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <heist/detail/export.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

class LoopCore;
class TaskHome;
struct LoopNode;

/// What is done with a node that arrives in an inbox: it is enqueued as a task or as a microtask,
/// or it is a message, which is taken at once. The rest of a task that forked (ForkFrame) never
/// arrives: agents pick it.
enum class LoopNodeKind : std::uint8_t { task, microtask, message, forked };

/// The operations of a node: one constant table for each concrete node type.
struct LoopNodeOps {
  LoopNodeKind kind;
  /// Does the node's work on the agent; the node may be gone afterwards. Null for a message.
  void (*run)(LoopNode&, LoopCore&) noexcept;
  /// Ends the node without doing its work, because the loop is closed. The node may be gone
  /// afterwards.
  void (*drop)(LoopNode&) noexcept;
  /// How many bytes behind the node's start its label stands; zero when it has none (label_of).
  std::uint32_t label_at = 0;
};

/// The table of a message. A message may also go to a cluster, where no loop runs it.
/// take_message() relies on every message having this table, and no other node having it.
struct MessageOps : LoopNodeOps {
  constexpr MessageOps(void (*dropped)(LoopNode&) noexcept,
                       void (*taken)(LoopNode&, TaskHome&) noexcept) noexcept
      : LoopNodeOps{LoopNodeKind::message, nullptr, dropped}, take(taken) {}

  /// Carries out the message. A loop's agent or a cluster's keeper calls it; the node may be gone
  /// afterwards.
  void (*take)(LoopNode&, TaskHome&) noexcept;
};

/// A node of the inbox, a scheduler task queue, the timer wheel, the microtask queue or, if it is a
/// reaction, a pending promise.
///
/// Invariant: a node is in one list at a time. In the inbox, in a promise and in a cluster's queues
/// only `next` is meaningful; every other list belongs to the agent. The alignment leaves low bits
/// of the address free for a bin's word (InjectionQueue). It is no larger, as libraries of senders
/// align the memory for operations to 8 bytes.
struct alignas(8) LoopNode {
  LoopNode* next = nullptr;
  union {
    LoopNode* prev = nullptr;
    /// For a delayed task in an inbox: when it was posted, in nanoseconds of the loop's clock.
    std::int64_t posted_at;
  };
  /// In a scheduler task queue: the enqueue order. In the timer wheel: the expiry tick. For a
  /// delayed task in an inbox: the nanosecond at which its delay ends. In a cluster's queues, with
  /// a maximum wait: since when the node waits.
  std::uint64_t key = 0;
  const LoopNodeOps* ops = nullptr;

  constexpr explicit LoopNode(const LoopNodeOps& table) noexcept : ops(&table) {}
  LoopNode(const LoopNode&) = delete;
  LoopNode& operator=(const LoopNode&) = delete;
};

/// Precondition: the node is a message.
inline void take_message(LoopNode& message, TaskHome& home) noexcept {
  static_cast<const MessageOps*>(message.ops)->take(message, home);
}

/// Prefetches for a walk through a list: call step(node, next) after each `next` was read. A long
/// list is read from memory, and its addresses mostly rise or fall evenly (Depot::take), so the
/// walk prefetches what lies some steps ahead at this rate. A short list is in the cache already,
/// and the memory ahead of it may be in use elsewhere.
class ListWalk {
 public:
  void step(const LoopNode& node, const LoopNode* next) noexcept {
    if (++steps_ < long_list) return;
    const auto from = reinterpret_cast<std::uintptr_t>(&node);
    const auto to = reinterpret_cast<std::uintptr_t>(next);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a guess, not to be read
    __builtin_prefetch(reinterpret_cast<const void*>(to + (to - from) * ahead), 1);
  }

 private:
  static constexpr unsigned long_list = 128;
  static constexpr std::uintptr_t ahead = 16;

  std::size_t steps_ = 0;
};

/// Reverses a list that was pushed newest first.   Returns the oldest node.
[[nodiscard]] inline LoopNode* oldest_first(LoopNode* newest) noexcept {
  ListWalk walk;
  LoopNode* oldest = nullptr;
  while (newest != nullptr) {
    LoopNode* older = newest->next;
    walk.step(*newest, older);
    newest->next = oldest;
    oldest = newest;
    newest = older;
  }
  return oldest;
}

/// Ends a node that its closed loop will not take; see LoopNodeOps::drop.
HEIST_EXPORT void drop_undeliverable(LoopNode& node) noexcept;

}  // namespace HEIST_NAMESPACE::detail
