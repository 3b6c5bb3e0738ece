// InjectionQueue: the tasks of one level that come from outside the cluster. Any thread posts, and
// any agent takes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/sync.hpp>
#include <utility>

#include "../../memory/address_bits.hpp"

namespace HEIST_NAMESPACE::detail {

// The queue is a ring of bins. A bin keeps a chain of at most `most` tasks, newest first, in one
// word. Numbers count the bins of all rounds: number n stands for bin n % bins in round n / bins.
//
// Roles   poster: any thread.  taker: any agent.  sweeper: one agent at a time; takes out aborted
//         tasks.
// States  A bin's word is (round, chain, count, overfull). Compare its round with the round of the
//         bin's number. If the word's round is earlier, the bin has not been taken in that round
//         yet, so the ring is full. If it is later, the bin has been taken. If the count is full
//         but there is no chain, an agent has the tasks in hand, and will put back those that it
//         leaves there.
// I1      Within a round a post makes the chain longer, and a take ends the round. What an agent
//         puts back is a part of what was there, and the bin then counts as full.
// I2      A bin gets tasks only when every bin before it is full or taken. So tasks leave in the
//         order of the CASes of post(), at most `most` at once. Tasks that an agent has in hand
//         count as claimed (CLU-1), and others go on taking the tasks behind them.
// I3      Posters never dereference what they find in a bin.
// I4      head_ and tail_ only help. Whoever sees by a bin's round that one of them is behind moves
//         it on.
// Edge bin: publish -> search, take. Carries the tasks, and the links made by an agent that had
//         them in hand.
// Edge bin: publish <-> search. Post, then read the hint and the sleepers; announce, then search. A
//         search that reads a bin before the bin's first post stops there. So, in S, that post must
//         come before the posts to later bins. It does: whoever posts to a later bin has searched
//         this one, or comes after somebody who has (move_on -> find).
// Edge bin: move_on -> find. Carries nothing but that order. (No model shows that it is needed,
//         because in a model S is the order of the steps.)
// Progress  lock-free. A frozen poster or taker stops nobody.
// Bound   bins * most tasks. What comes then goes into the last bin, however much that holds, and
//         is taken from there in portions, newest first (cluster_broken.cpp). Rounds are counted
//         modulo 2^13: a thread that stalls for 2^12 rounds between its two looks mistakes an old
//         round for a new one.
// Proof   stress/model/models/cluster_{queues,hint}.cpp.
template <unsigned bins, unsigned most>
class InjectionQueue {
 public:
  /// Called by any thread. Costs one CAS, one more when the bin was taken or is full, and retries
  /// where posters meet.
  void post(LoopNode& task) noexcept {
    std::uint64_t number = tail_.load(sync::edge("bin:find", sync::acquire));
    bool overfill = false;
    for (;;) {
      Word old = bin(number).load(sync::edge("bin:search", sync::seq_cst));
      const int lag = rounds_ahead(old, number);
      if (lag < 0 || (lag > 0 && overfill && !is_first(number))) {
        // The task goes to the last bin or, when all behind it are taken, to the one that somebody
        // has in hand.
        --number;
        overfill = true;
      } else if (lag > 0 || (count(old) == most && !overfill)) {
        number = move_on(tail_, number);
        overfill = false;
      } else if (push(bin(number), old, task, overfill)) {
        return;
      }
    }
  }

  /// Called by an agent: takes the oldest tasks, oldest first. Returns null when there is none.
  [[nodiscard]] LoopNode* take() noexcept {
    for (;;) {
      std::uint64_t number = 0;
      Word old = first(number);
      if (chain(old) == nullptr) return nullptr;
      if (is_overfull(old)) [[unlikely]] {
        if (LoopNode* some = take_some(number, old)) return some;
      } else if (exchange_word(number, old, taken(number))) {
        move_on(head_, number);
        return oldest_first(chain(old));
      }
    }
  }

  /// Called by the sweeper: returns the number of the last bin plus one.
  [[nodiscard]] std::uint64_t end() const noexcept {
    return tail_.load(sync::edge("bin:find", sync::acquire)) + 1;
  }
  /// Called by the sweeper: goes on from number `at`, and sets it to the next bin's number. Looks
  /// at the tasks of the bin, or at its first `swept_at_once`, and keeps those for which
  /// `stays(LoopNode&)` is true. A caller that puts tasks back has to publish them anew.
  template <class Stays>
  void sweep(std::uint64_t& at, Stays&& stays) noexcept {
    const std::uint64_t number = std::max(at, head_.load(sync::edge("bin:search", sync::seq_cst)));
    at = number + 1;
    Word old = bin(number).load(sync::edge("bin:search", sync::seq_cst));
    // Otherwise the bin is taken or empty, or another thread works on it. The next sweep takes out
    // what is aborted there.
    if (rounds_ahead(old, number) == 0 && chain(old) != nullptr && hold(number, old)) {
      put_back(number, filtered(chain(old), stays), old & overfull);
    }
  }

  /// Called by any thread: how many tasks there were a moment ago. Of an overfull bin it counts
  /// `most`.
  [[nodiscard]] std::size_t count() const noexcept {
    std::size_t tasks = 0;
    // relaxed, all: a statistic.
    const std::uint64_t end = tail_.load(sync::relaxed) + 1;
    for (std::uint64_t number = head_.load(sync::relaxed); number < end; ++number) {
      const Word seen = bins_[number % bins].load(sync::relaxed);  // relaxed: as above.
      if (rounds_ahead(seen, number) == 0) tasks += count(seen);
    }
    return tasks;
  }
  /// Called by an agent: whether take() would return a task. It sees every post that completed
  /// before the call.
  [[nodiscard]] bool has_tasks() noexcept {
    std::uint64_t number = 0;
    return chain(first(number)) != nullptr;
  }

 private:
  friend struct QueueProbe;
  // 13 bits of round, one bit that says that there may be more tasks than the count says, 45 bits
  // of address (aligned to 8), 5 bits of count.
  using Word = std::uint64_t;
  static constexpr unsigned round_shift = 51;
  static constexpr Word overfull = Word{1} << 50;
  static constexpr Word count_mask = 31;
  static constexpr unsigned swept_at_once = 4 * most;
  static constexpr Word address_mask = ((Word{1} << address_bits) - 1) & ~Word{7};
  static_assert(most <= count_mask);
  static_assert(alignof(LoopNode) >= 8);

  static Word word(LoopNode* newest, Word count, Word round) noexcept {
    return (round << round_shift) | (reinterpret_cast<Word>(newest) << 2) | count;
  }
  static LoopNode* chain(Word word) noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): made by word()
    return reinterpret_cast<LoopNode*>((word >> 2) & address_mask);
  }
  static Word count(Word word) noexcept { return word & count_mask; }
  static Word round(Word word) noexcept { return word >> round_shift; }
  static bool is_overfull(Word word) noexcept { return (word & overfull) != 0; }
  static bool is_in_hand(Word word) noexcept { return chain(word) == nullptr && count(word) != 0; }
  static Word in_hand(std::uint64_t number) noexcept {
    return word(nullptr, most, round_of(number));
  }
  static Word taken(std::uint64_t number) noexcept {
    return word(nullptr, 0, round_of(number) + 1);
  }
  static Word round_of(std::uint64_t number) noexcept { return number / bins; }
  /// How many rounds the bin's word is ahead of its number's round; negative when it is behind.
  static int rounds_ahead(Word word, std::uint64_t number) noexcept {
    constexpr unsigned spare = 32 - (64 - round_shift);
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(round(word) - round_of(number))
                                     << spare) >>
           spare;
  }

  /// Whether all bins before this one have been taken.
  [[nodiscard]] bool is_first(std::uint64_t number) const noexcept {
    return number <= head_.load(sync::edge("bin:find", sync::acquire));
  }
  sync::atomic<Word>& bin(std::uint64_t number) noexcept { return bins_[number % bins]; }

  static bool push(sync::atomic<Word>& to, Word& old, LoopNode& task, bool overfill) noexcept {
    task.next = chain(old);
    const Word longer = count(old) < most ? count(old) + 1 : most | (overfill ? overfull : 0);
    return to.compare_exchange_weak(old, word(&task, 0, round(old)) | longer,
                                    sync::edge("bin:publish", sync::seq_cst),
                                    sync::relaxed);  // relaxed: a failure retries.
  }
  /// Called by an agent: takes what is in the bin, if it is still what was seen there.
  bool exchange_word(std::uint64_t number, Word& old, Word now) noexcept {
    return bin(number).compare_exchange_strong(old, now, sync::edge("bin:take", sync::acquire),
                                               sync::relaxed);  // relaxed: a failure retries.
  }

  // What an agent has in hand.

  bool hold(std::uint64_t number, Word& old) noexcept {
    return exchange_word(number, old, in_hand(number));
  }
  /// Puts tasks back into the bin that they were held from. Tasks that came meanwhile to this bin,
  /// as the last one of a full ring, go before them. An agent that takes these in hand, too, may
  /// have ended the round: then everything is posted once more.
  void put_back(std::uint64_t number, LoopNode* newest, Word mark = 0) noexcept {
    for (;;) {
      const Word left =
          newest == nullptr ? taken(number) : word(newest, most, round_of(number)) | mark;
      Word now = in_hand(number);
      if (bin(number).compare_exchange_strong(now, left, sync::edge("bin:publish", sync::seq_cst),
                                              sync::edge("bin:search", sync::seq_cst))) {
        if (newest == nullptr) move_on(head_, number);
        return;
      }
      if (newest == nullptr) return;
      if (rounds_ahead(now, number) != 0) break;
      if (!hold(number, now)) continue;
      LoopNode* last = chain(now);
      while (last->next != nullptr) last = last->next;
      last->next = std::exchange(newest, chain(now));
      mark = overfull;
    }
    for (LoopNode* task = oldest_first(newest); task != nullptr;)
      post(*std::exchange(task, task->next));
  }
  /// Takes some tasks of an overfull bin. It takes the newest, because nobody knows how many there
  /// are. Returns null when another thread was faster.
  LoopNode* take_some(std::uint64_t number, Word old) noexcept {
    if (!hold(number, old)) return nullptr;
    LoopNode* newest = chain(old);
    LoopNode** end = &newest;
    for (unsigned i = 0; i < most && *end != nullptr; ++i) end = &(*end)->next;
    put_back(number, std::exchange(*end, nullptr), overfull);
    return oldest_first(newest);
  }
  template <class Stays>
  static LoopNode* filtered(LoopNode* newest, Stays& stays) noexcept {
    LoopNode** end = &newest;
    for (unsigned i = 0; i < swept_at_once && *end != nullptr; ++i) {
      LoopNode& task = **end;
      LoopNode* older = task.next;  // a task that does not stay may be linked elsewhere
      if (stays(task)) {
        end = &task.next;
      } else {
        *end = older;
      }
    }
    return newest;
  }

  /// Returns the word of the first bin that has not been taken and is in nobody's hands, and sets
  /// its number.
  Word first(std::uint64_t& number) noexcept {
    number = head_.load(sync::edge("bin:search", sync::seq_cst));
    for (;;) {
      const Word found = bin(number).load(sync::edge("bin:search", sync::seq_cst));
      if (is_in_hand(found) && rounds_ahead(found, number) == 0) {
        ++number;
      } else if (rounds_ahead(found, number) > 0) {
        number = pass(number);
      } else {
        return found;
      }
    }
  }
  /// Passes a bin that was taken. head_ stands at this bin, or is still behind bins that are in
  /// hand.
  std::uint64_t pass(std::uint64_t number) noexcept {
    const std::uint64_t now = move_on(head_, number);
    return std::max(now, number + 1);
  }

  /// Moves `end` from `number` to the next number, unless another thread has done so. Returns where
  /// `end` is now.
  static std::uint64_t move_on(sync::atomic<std::uint64_t>& end, std::uint64_t number) noexcept {
    if (end.compare_exchange_strong(number, number + 1, sync::edge("bin:move_on", sync::release),
                                    sync::edge("bin:find", sync::acquire))) {
      return number + 1;
    }
    return number;
  }

  alignas(64) sync::atomic<std::uint64_t> tail_{0};
  alignas(64) sync::atomic<std::uint64_t> head_{0};
  alignas(64) std::array<sync::atomic<Word>, bins> bins_{};
};

}  // namespace HEIST_NAMESPACE::detail
