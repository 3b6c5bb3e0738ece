// Inbox: holds everything that other threads post to an agent. The agent takes it as a whole.
#pragma once

#include <cstdint>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/sync.hpp>
#include <utility>

#include "../os/word_wait.hpp"

namespace HEIST_NAMESPACE::detail {

/// Nodes that were taken from an inbox and have not arrived yet. However many they are, they need
/// not arrive in one go.   Agent only.
class TakenNodes {
 public:
  TakenNodes() noexcept = default;
  explicit TakenNodes(LoopNode* newest) noexcept : newest_(newest) {}

  [[nodiscard]] bool empty() const noexcept { return newest_ == nullptr && oldest_ == nullptr; }
  /// Takes the only node. Returns null when there is none, or when there are more.   Precondition:
  /// the nodes are as they were taken.
  [[nodiscard]] LoopNode* take_only() noexcept {
    const bool is_alone = newest_ != nullptr && newest_->next == nullptr;
    return is_alone ? std::exchange(newest_, nullptr) : nullptr;
  }
  /// Gives the next nodes to `arrive(LoopNode&)`, oldest first. The list is linked newest first, so
  /// it has to be turned round before; until that is done, a call does nothing else.
  template <class Arrive>
  void arrive_some(unsigned most_turned, unsigned most, Arrive&& arrive) noexcept {
    turn_some(most_turned);
    if (newest_ != nullptr) return;
    ListWalk walk;
    LoopNode* oldest = oldest_;
    while (oldest != nullptr) {
      LoopNode* const next = oldest->next;
      walk.step(*oldest, next);
      arrive(*oldest);
      oldest = next;
      if (--most == 0) break;
    }
    oldest_ = oldest;
  }

 private:
  friend class Inbox;
  void turn_some(unsigned most) noexcept {
    ListWalk walk;
    LoopNode* newest = newest_;
    LoopNode* oldest = oldest_;
    while (newest != nullptr) {
      LoopNode* const older = newest->next;
      walk.step(*newest, older);
      newest->next = oldest;
      oldest = newest;
      newest = older;
      if (--most == 0) break;
    }
    newest_ = newest;
    oldest_ = oldest;
  }

  LoopNode* newest_ = nullptr;  ///< still to be turned round
  LoopNode* oldest_ = nullptr;  ///< the oldest of those that are older, or have been turned
};

// Roles   poster: any thread.  agent: the one thread that drives the loop.
// States  head_: empty (agent awake), asleep (empty, agent asleep or about to sleep), closed (for
//         ever), or the address of the newest posted node. One comparison tells nodes from the
//         other states.
// I1      A node is in one list. After it has published a node, a poster never touches it, because
//         the node may be freed.
// I2      Posters never dereference the head that they read, and the agent takes the whole list. So
//         ABA is harmless.
// I3      The order in which the CASes of post() succeed is the enqueue order of the loop
//         (ADR-0002). So if one post returned before another was called, its node is older (ORD-2).
// I4      Only the agent stores asleep and closed. The post that replaces asleep is the one that
//         wakes the agent. So each change from idle to busy has one wake-up, and none can be lost,
//         because "is there work" and "is the agent asleep" are one word.
// Edge inbox: publish -> take. Carries the node and all its poster did before. Each post is a
//         read-modify-write, so it extends earlier releases: one acquire covers every node of the
//         list.
// I5      While another thread counts what the inbox holds, the agent touches none of it: the agent
//         waits after its take. Only a close counts, at its deadline, when nothing may start any
//         more.
// I6      What the agent has left of a list that it took is older than every node that head_ leads
//         to.
// I7      A thread that takes its own node back finds it on top, where it put it. What was below
//         the node then is still the rest of the list, because a node leaves only together with all
//         nodes above it, and is posted only once.
// Edge inbox: count <-> take. Count, then look; take, then see who counts.
// Edge inbox: leave -> look_left. Carries the links of what is left. (As with count: count, then
//         look.)
// Edge inbox: counted -> take. The counter has read the nodes before the agent links them anew.
// Edge inbox: sleep -> publish. Carries the wake-up word that the agent prepared (parker).
// Edge inbox: publish <-> look. For a cluster's inbox: arm, then look for the watcher; become the
//         watcher, then look.
// Reclamation  none: a node belongs to whoever takes it.
// Progress  post is lock-free; take is one exchange, apart from I5.   Bound  none, because the
//         scheduler bounds posts where that is wanted.
// Proof   tests/concurrent/inbox_test.cpp, stress/order_stress.cpp, stress/post_storm_stress.cpp,
//         stress/model/models/closing.cpp, stress/model/models/time_limits.cpp
class Inbox {
 public:
  enum class PostResult : std::uint8_t { posted, wake, closed };

  /// What a post has found in the inbox, for try_take_back().
  using Below = std::uintptr_t;

  /// Called by any thread. `wake` says that the agent slept, and that the caller must wake it.
  [[nodiscard]] PostResult post(LoopNode& node) noexcept {
    Below below = 0;
    return post(node, below);
  }
  [[nodiscard]] PostResult post(LoopNode& node, Below& below) noexcept {
    Word old = head_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    do {
      if (old == closed) return PostResult::closed;
      node.next = newest_of(old);
    } while (!head_.compare_exchange_weak(old, word_of(node),
                                          sync::edge("inbox:publish", sync::seq_cst),
                                          sync::relaxed));  // relaxed: a failure only retries.
    below = is_node(old) ? old : empty;
    return old == asleep ? PostResult::wake : PostResult::posted;
  }

  /// Called by any thread that has what `post(node, below)` returned. Returns false when another
  /// post came since, or when the node was taken.
  [[nodiscard]] bool try_take_back(LoopNode& node, Below below) noexcept {
    Word expected = word_of(node);
    const bool is_back = head_.compare_exchange_strong(
        expected, below, sync::edge("inbox:take", sync::seq_cst), sync::relaxed);
    // relaxed: a failure changes nothing.
    if (is_back) let_others_count();
    return is_back;
  }

  /// Called by the agent: whether take() would return a node. It sees every post that returned
  /// before.
  [[nodiscard]] bool has_posts() const noexcept {
    // relaxed: coherence shows every post that happened before; take() acquires what they carry.
    return is_node(head_.load(sync::relaxed));
  }

  /// Works as has_posts(). Called by any thread after it has published something (seq_cst: see
  /// TimerKeeper).
  [[nodiscard]] bool has_posts_by_now() const noexcept {
    return is_node(head_.load(sync::edge("inbox:look", sync::seq_cst)));
  }

  /// Called by the agent: takes all posted nodes, oldest first.
  [[nodiscard]] LoopNode* take() noexcept { return oldest_first(take_newest_first()); }

  /// Called by the agent: takes them as they are linked, in constant time however many there are.
  [[nodiscard]] LoopNode* take_newest_first() noexcept {
    return has_posts() ? take_and_leave(empty) : nullptr;
  }

  /// Called by the agent: takes all nodes, in a form that lets it leave a part of them for later.
  [[nodiscard]] TakenNodes take_nodes() noexcept { return TakenNodes(take_newest_first()); }
  /// Called by the agent: leaves some of what it has taken here, where it is counted.
  /// Precondition: the agent has left nothing before.
  void leave(const TakenNodes& rest) noexcept {
    left_newest_.store(rest.newest_, sync::edge("inbox:leave", sync::seq_cst));
    left_oldest_.store(rest.oldest_, sync::edge("inbox:leave", sync::seq_cst));
  }
  /// Called by the agent: takes what it has left.
  [[nodiscard]] TakenNodes take_left() noexcept {
    TakenNodes left(left_newest_.exchange(nullptr, sync::edge("inbox:take", sync::seq_cst)));
    left.oldest_ = left_oldest_.exchange(nullptr, sync::edge("inbox:take", sync::seq_cst));
    let_others_count();
    return left;
  }
  [[nodiscard]] bool has_left() const noexcept {
    // relaxed, twice: only the agent writes them.
    return left_newest_.load(sync::relaxed) != nullptr ||
           left_oldest_.load(sync::relaxed) != nullptr;
  }

  /// For whoever compares it (UrgentLook): it is zero while the agent is awake and nothing is here.
  [[nodiscard]] const sync::atomic<std::uintptr_t>& word() const noexcept { return head_; }

  /// Called by the agent: announces sleep. Returns false when something was posted meanwhile, or
  /// when the inbox is closed.
  [[nodiscard]] bool try_sleep() noexcept {
    Word expected = empty;
    return head_.compare_exchange_strong(expected, asleep, sync::edge("inbox:sleep", sync::release),
                                         sync::relaxed);  // relaxed: the list is not looked at.
  }

  /// Called by the agent: whether it has announced sleep and nothing was posted since.
  [[nodiscard]] bool is_asleep() const noexcept {
    return head_.load(sync::relaxed) == asleep;  // relaxed: as has_posts().
  }

  /// Called by the agent: takes the announcement back. Returns false when a post has replaced it;
  /// that post's thread wakes the agent, or has done so.
  [[nodiscard]] bool cancel_sleep() noexcept {
    Word expected = asleep;
    return head_.compare_exchange_strong(expected, empty, sync::relaxed, sync::relaxed);
    // relaxed: no data passes; a failure is followed by take().
  }

  /// Called by the agent: refuses every later post, and returns the nodes posted before, oldest
  /// first.
  [[nodiscard]] LoopNode* close() noexcept { return oldest_first(take_and_leave(closed)); }

  /// Called by any thread: how many tasks the inbox holds.   Cost: a walk over all of them.
  [[nodiscard]] std::uint64_t count_tasks() noexcept {
    counting_.fetch_add(1, sync::edge("inbox:count", sync::seq_cst));
    const Word newest = head_.load(sync::edge("inbox:count", sync::seq_cst));
    const LoopNode* const left_newest =
        left_newest_.load(sync::edge("inbox:look_left", sync::seq_cst));
    const LoopNode* const left_oldest =
        left_oldest_.load(sync::edge("inbox:look_left", sync::seq_cst));
    const auto count =
        tasks_from(newest_of(newest)) + tasks_from(left_newest) + tasks_from(left_oldest);
    counting_.fetch_sub(1, sync::edge("inbox:counted", sync::seq_cst));
    wake_all_on_word(counting_);
    return count;
  }

  /// Called by any thread. Once this is true, it stays true.
  [[nodiscard]] bool is_closed() const noexcept {
    // relaxed: a hint for callers; post() decides.
    return head_.load(sync::relaxed) == closed;
  }

 private:
  using Word = std::uintptr_t;
  static constexpr Word empty = 0;
  static constexpr Word asleep = 1;
  static constexpr Word closed = 2;

  static bool is_node(Word head) noexcept { return head > closed; }
  static Word word_of(LoopNode& node) noexcept { return reinterpret_cast<Word>(&node); }
  static LoopNode* newest_of(Word head) noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): made by word_of()
    return is_node(head) ? reinterpret_cast<LoopNode*>(head) : nullptr;
  }

  static std::uint64_t tasks_from(const LoopNode* node) noexcept {
    std::uint64_t count = 0;
    for (; node != nullptr; node = node->next) {
      if (node->ops->kind == LoopNodeKind::task) ++count;
    }
    return count;
  }

  /// Returns the nodes newest first.
  LoopNode* take_and_leave(Word left) noexcept {
    LoopNode* newest = newest_of(head_.exchange(left, sync::edge("inbox:take", sync::seq_cst)));
    let_others_count();
    return newest;
  }
  /// Called by a thread that has taken something.
  void let_others_count() noexcept {
    const auto counting = counting_.load(sync::edge("inbox:take", sync::seq_cst));
    if (counting != 0) [[unlikely]]
      await_counts(counting);
  }
  [[gnu::noinline, gnu::cold]] void await_counts(std::uint32_t counting) noexcept {
    while (counting != 0) {
      wait_on_word(counting_, counting, {});
      counting = counting_.load(sync::edge("inbox:take", sync::seq_cst));
    }
  }

  sync::atomic<Word> head_{empty};
  sync::atomic<std::uint32_t> counting_{0};
  sync::atomic<LoopNode*> left_newest_{nullptr};
  sync::atomic<LoopNode*> left_oldest_{nullptr};
};

}  // namespace HEIST_NAMESPACE::detail
