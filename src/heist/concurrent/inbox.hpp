// Inbox: everything other threads hand to an agent, taken whole.
#pragma once

#include <cstdint>
#include <heist/loop_node.hpp>
#include <heist/sync.hpp>

namespace heist {

// Roles   poster: any thread.  agent: the one thread that drives the loop.
// States  head_: null (empty, agent awake), asleep (empty, agent asleep or about to), closed (for
//         ever), or the newest posted node.
// I1      A node is in one list. After publish its poster never touches it (it may be freed).
// I2      Posters never dereference the head they read; the agent takes the whole list: ABA is
//         harmless.
// I3      The order in which the CASes of post() succeed is the enqueue order of the loop
//         (ADR-0002): one post that returned before another one was called is older (ORD-2).
// I4      Only the agent stores asleep and closed. A post that replaces asleep is the one that
//         wakes: one wake-up for each idle-to-busy transition, and none can be lost, because "is
//         there work" and "is the agent asleep" are one word.
// Edge inbox: publish -> take. Carries the node and all its poster did before. Each post is a
//         read-modify-write, so it extends earlier releases: one acquire covers every node of the
//         list.
// Edge inbox: sleep -> publish. Carries the wake-up word the agent prepared (parker).
// Reclamation  none: nodes belong to who takes them.
// Progress  post lock-free, take one exchange.   Bound none (bounded posting is the scheduler's
//           business).
// Proof   tests/concurrent/inbox_test.cpp, stress/order_stress.cpp, stress/post_storm_stress.cpp
class Inbox {
 public:
  enum class PostResult : std::uint8_t { posted, wake, closed };

  /// Any thread. `wake`: the agent slept; the caller must wake it.
  [[nodiscard]] PostResult post(LoopNode& node) noexcept {
    LoopNode* old = head_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    do {
      if (old == closed_mark()) return PostResult::closed;
      node.next = old == asleep_mark() ? nullptr : old;
    } while (!head_.compare_exchange_weak(old, &node, sync::edge("inbox:publish", sync::acq_rel),
                                          sync::relaxed));  // relaxed: a failure only retries.
    return old == asleep_mark() ? PostResult::wake : PostResult::posted;
  }

  /// Agent. True when take() would give something: every post that returned before is seen.
  [[nodiscard]] bool has_posts() const noexcept {
    // relaxed: coherence shows every post that happened before; take() acquires what they carry.
    const LoopNode* head = head_.load(sync::relaxed);
    return head != nullptr && head != asleep_mark() && head != closed_mark();
  }

  /// Agent. All posted nodes, oldest first.
  [[nodiscard]] LoopNode* take() noexcept {
    if (!has_posts()) return nullptr;
    return oldest_first(head_.exchange(nullptr, sync::edge("inbox:take", sync::acquire)));
  }

  /// Agent. Announces sleep; false when something was posted meanwhile (or the inbox is closed).
  [[nodiscard]] bool try_sleep() noexcept {
    LoopNode* empty = nullptr;
    return head_.compare_exchange_strong(empty, asleep_mark(),
                                         sync::edge("inbox:sleep", sync::release),
                                         sync::relaxed);  // relaxed: the list is not looked at.
  }

  /// Agent. Takes the announcement back; false when a post has replaced it (its poster wakes, or
  /// has woken).
  [[nodiscard]] bool cancel_sleep() noexcept {
    LoopNode* asleep = asleep_mark();
    return head_.compare_exchange_strong(asleep, nullptr, sync::relaxed, sync::relaxed);
    // relaxed: no data passes; a failure is followed by take().
  }

  /// Agent. Refuses every later post; gives the nodes posted before, oldest first.
  [[nodiscard]] LoopNode* close() noexcept {
    LoopNode* head = head_.exchange(closed_mark(), sync::edge("inbox:take", sync::acquire));
    if (head == asleep_mark() || head == closed_mark()) return nullptr;
    return oldest_first(head);
  }

  /// Any thread. Once true it stays true.
  [[nodiscard]] bool is_closed() const noexcept {
    // relaxed: a hint for callers; post() decides.
    return head_.load(sync::relaxed) == closed_mark();
  }

 private:
  static LoopNode* asleep_mark() noexcept { return &marks()[0]; }
  static LoopNode* closed_mark() noexcept { return &marks()[1]; }
  static LoopNode* marks() noexcept {
    static constinit LoopNode marks[2] = {LoopNode(no_ops), LoopNode(no_ops)};
    return marks;
  }
  static constexpr LoopNodeOps no_ops{LoopNodeKind::message, nullptr, nullptr};

  sync::atomic<LoopNode*> head_{nullptr};
};

}  // namespace heist
