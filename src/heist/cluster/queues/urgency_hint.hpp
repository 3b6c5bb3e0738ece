// UrgencyHint: a level above which no stealable task is runnable and unclaimed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/sync.hpp>

namespace HEIST_NAMESPACE::detail {

// Roles   publisher: whoever made a task runnable at a level.  agent: reads the hint at the start
//         of a pick, and lowers it.
// States  (level, target, version): `target` is below `level` while somebody intends to lower the
//         hint to it, and equal to `level` otherwise.
// I1      level() is at least the level of every task that is published and unclaimed, and whose
//         publisher has returned from published().
// Why     A publisher that reads the word after an intent was announced ends that intent: the CAS
//         that lowers fails. A publisher that reads the word before the announcement has published
//         its task before, so the search, which comes after the announcement, finds the task. So
//         the level is lowered only after a search that no publisher has overtaken. (It is not
//         enough to lower first and to search again afterwards: between the two, others act on the
//         low level. See the model naive_lowering.)
// Edge hint: published <-> read, announce, lower. Through the queues: publish, read the hint;
//         announce, search, lower.
// Progress  lock-free. Anybody may finish what anybody announced.
// Proof   stress/model/models/cluster_hint.cpp.
class UrgencyHint {
 public:
  using Word = std::uint64_t;

  [[nodiscard]] int level() const noexcept {
    return level_of(word_.load(sync::edge("hint:read", sync::seq_cst)));
  }
  /// For whoever compares it (UrgentLook): the low eight bits have the level, and the target.
  [[nodiscard]] const sync::atomic<Word>& word() const noexcept { return word_; }

  /// To be called after a task was published at `level`.   Cost: a load, unless the task is more
  /// urgent than the hint says.
  void published(int level) noexcept {
    Word old = word_.load(sync::edge("hint:published", sync::seq_cst));
    while (level > level_of(old) || level > target_of(old)) {
      const int top = std::max(level, level_of(old));
      if (word_.compare_exchange_weak(old, next(old, top, top),
                                      sync::edge("hint:published", sync::seq_cst),
                                      sync::edge("hint:published", sync::seq_cst))) {
        return;
      }
    }
  }

  /// Called by an agent before it searches everything above `target` for the last time. Returns
  /// what lower() needs.
  [[nodiscard]] Word announce(int target) noexcept {
    Word old = word_.load(sync::edge("hint:announce", sync::seq_cst));
    while (target < level_of(old) && target_of(old) != target) {
      const Word announced = next(old, level_of(old), target);
      if (word_.compare_exchange_weak(old, announced, sync::edge("hint:announce", sync::seq_cst),
                                      sync::edge("hint:announce", sync::seq_cst))) {
        return announced;
      }
    }
    return old;
  }
  /// Called after a search that found nothing above `target`. Does nothing when a publisher came in
  /// between, or when the announcement is that of another agent, which searched less.
  void lower(Word announced, int target) noexcept {
    if (target >= level_of(announced) || target != target_of(announced)) return;
    word_.compare_exchange_strong(announced, next(announced, target, target),
                                  sync::edge("hint:lower", sync::seq_cst),
                                  sync::relaxed);  // relaxed: nothing is done then.
  }

 private:
  // The word has four bits of level + 1, four bits of target + 1, and a version in the rest.
  static int level_of(Word word) noexcept { return static_cast<int>(word & 15) - 1; }
  static int target_of(Word word) noexcept { return static_cast<int>((word >> 4) & 15) - 1; }
  static Word next(Word word, int level, int target) noexcept {
    return (((word >> 8) + 1) << 8) | (static_cast<Word>(target + 1) << 4) |
           static_cast<Word>(level + 1);
  }

  alignas(64) sync::atomic<Word> word_{0};
};

}  // namespace HEIST_NAMESPACE::detail
