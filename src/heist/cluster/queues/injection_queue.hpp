// InjectionQueue: the tasks of one level that come from outside the cluster. Any thread posts, and
// any agent takes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/sync.hpp>
#include <utility>

namespace HEIST_NAMESPACE::detail {

// The queue is a ring of bins. A bin keeps a chain of at most `most` tasks, newest first, in one
// word. Numbers count the bins of all rounds: number n stands for bin n % bins in round n / bins.
// (The functions call a number `ticket`. It has nothing to do with the tickets of LevelIndex.)
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
//         modulo 2^14: a thread that stalls for 2^13 rounds between its two looks mistakes an old
//         round for a new one.
// Proof   stress/model/models/cluster_{queues,hint}.cpp.
template <unsigned bins, unsigned most>
class InjectionQueue {
 public:
  /// Called by any thread. Costs one CAS, one more when the bin was taken or is full, and retries
  /// where posters meet.
  void post(LoopNode& task) noexcept {
    std::uint64_t ticket = tail_.load(sync::edge("bin:find", sync::acquire));
    bool overfill = false;
    for (;;) {
      Word old = bin(ticket).load(sync::edge("bin:search", sync::seq_cst));
      const int lag = rounds_ahead(old, ticket);
      if (lag < 0 || (lag > 0 && overfill && !is_first(ticket))) {
        // The task goes to the last bin or, when all behind it are taken, to the one that somebody
        // has in hand.
        --ticket;
        overfill = true;
      } else if (lag > 0 || (count(old) == most && !overfill)) {
        ticket = move_on(tail_, ticket);
        overfill = false;
      } else if (push(bin(ticket), old, task, overfill)) {
        return;
      }
    }
  }

  /// Called by an agent: takes the oldest tasks, oldest first. Returns null when there is none.
  [[nodiscard]] LoopNode* take() noexcept {
    for (;;) {
      std::uint64_t ticket = 0;
      Word old = first(ticket);
      if (chain(old) == nullptr) return nullptr;
      if (is_overfull(old)) [[unlikely]] {
        if (LoopNode* some = take_some(ticket, old)) return some;
      } else if (exchange_word(ticket, old, taken(ticket))) {
        move_on(head_, ticket);
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
    const std::uint64_t ticket = std::max(at, head_.load(sync::edge("bin:search", sync::seq_cst)));
    at = ticket + 1;
    Word old = bin(ticket).load(sync::edge("bin:search", sync::seq_cst));
    // Otherwise the bin is taken or empty, or another thread works on it. The next sweep takes out
    // what is aborted there.
    if (rounds_ahead(old, ticket) == 0 && chain(old) != nullptr && hold(ticket, old)) {
      put_back(ticket, filtered(chain(old), stays), old & overfull);
    }
  }

  /// Called by an agent: whether take() would return a task. It sees every post that completed
  /// before the call.
  [[nodiscard]] bool has_tasks() noexcept {
    std::uint64_t ticket = 0;
    return chain(first(ticket)) != nullptr;
  }

 private:
  friend struct QueueProbe;
  // 14 bits of round, one bit that says that there may be more tasks than the count says, 44 bits
  // of address (aligned to 16), 5 bits of count.
  using Word = std::uint64_t;
  static constexpr unsigned address_bits = 48;
  static constexpr unsigned round_shift = 50;
  static constexpr Word overfull = Word{1} << 49;
  static constexpr Word count_mask = 31;
  static constexpr unsigned swept_at_once = 4 * most;
  static constexpr Word address_mask = ((Word{1} << address_bits) - 1) & ~Word{15};
  static_assert(most <= count_mask);
  static_assert(alignof(LoopNode) >= 16);

  static Word word(LoopNode* newest, Word count, Word round) noexcept {
    return (round << round_shift) | (reinterpret_cast<Word>(newest) << 1) | count;
  }
  static LoopNode* chain(Word word) noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): made by word()
    return reinterpret_cast<LoopNode*>((word >> 1) & address_mask);
  }
  static Word count(Word word) noexcept { return word & count_mask; }
  static Word round(Word word) noexcept { return word >> round_shift; }
  static bool is_overfull(Word word) noexcept { return (word & overfull) != 0; }
  static bool is_in_hand(Word word) noexcept { return chain(word) == nullptr && count(word) != 0; }
  static Word in_hand(std::uint64_t ticket) noexcept {
    return word(nullptr, most, round_of(ticket));
  }
  static Word taken(std::uint64_t ticket) noexcept {
    return word(nullptr, 0, round_of(ticket) + 1);
  }
  static Word round_of(std::uint64_t ticket) noexcept { return ticket / bins; }
  /// How many rounds the bin's word is ahead of its number's round; negative when it is behind.
  static int rounds_ahead(Word word, std::uint64_t ticket) noexcept {
    constexpr unsigned spare = 32 - (64 - round_shift);
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(round(word) - round_of(ticket))
                                     << spare) >>
           spare;
  }

  /// Whether all bins before this one have been taken.
  [[nodiscard]] bool is_first(std::uint64_t ticket) const noexcept {
    return ticket <= head_.load(sync::edge("bin:find", sync::acquire));
  }
  sync::atomic<Word>& bin(std::uint64_t ticket) noexcept { return bins_[ticket % bins]; }

  static bool push(sync::atomic<Word>& to, Word& old, LoopNode& task, bool overfill) noexcept {
    task.next = chain(old);
    const Word longer = count(old) < most ? count(old) + 1 : most | (overfill ? overfull : 0);
    return to.compare_exchange_weak(old, word(&task, 0, round(old)) | longer,
                                    sync::edge("bin:publish", sync::seq_cst),
                                    sync::relaxed);  // relaxed: a failure retries.
  }
  /// Called by an agent: takes what is in the bin, if it is still what was seen there.
  bool exchange_word(std::uint64_t ticket, Word& old, Word now) noexcept {
    return bin(ticket).compare_exchange_strong(old, now, sync::edge("bin:take", sync::acquire),
                                               sync::relaxed);  // relaxed: a failure retries.
  }

  // What an agent has in hand.

  bool hold(std::uint64_t ticket, Word& old) noexcept {
    return exchange_word(ticket, old, in_hand(ticket));
  }
  /// Puts tasks back into the bin that they were held from. Tasks that came meanwhile to this bin,
  /// as the last one of a full ring, go before them. An agent that takes these in hand, too, may
  /// have ended the round: then everything is posted once more.
  void put_back(std::uint64_t ticket, LoopNode* newest, Word mark = 0) noexcept {
    for (;;) {
      const Word left =
          newest == nullptr ? taken(ticket) : word(newest, most, round_of(ticket)) | mark;
      Word now = in_hand(ticket);
      if (bin(ticket).compare_exchange_strong(now, left, sync::edge("bin:publish", sync::seq_cst),
                                              sync::edge("bin:search", sync::seq_cst))) {
        if (newest == nullptr) move_on(head_, ticket);
        return;
      }
      if (newest == nullptr) return;
      if (rounds_ahead(now, ticket) != 0) break;
      if (!hold(ticket, now)) continue;
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
  LoopNode* take_some(std::uint64_t ticket, Word old) noexcept {
    if (!hold(ticket, old)) return nullptr;
    LoopNode* newest = chain(old);
    LoopNode** end = &newest;
    for (unsigned i = 0; i < most && *end != nullptr; ++i) end = &(*end)->next;
    put_back(ticket, std::exchange(*end, nullptr), overfull);
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
  Word first(std::uint64_t& ticket) noexcept {
    ticket = head_.load(sync::edge("bin:search", sync::seq_cst));
    for (;;) {
      const Word found = bin(ticket).load(sync::edge("bin:search", sync::seq_cst));
      if (is_in_hand(found) && rounds_ahead(found, ticket) == 0) {
        ++ticket;
      } else if (rounds_ahead(found, ticket) > 0) {
        ticket = pass(ticket);
      } else {
        return found;
      }
    }
  }
  /// Passes a bin that was taken. head_ stands at this bin, or is still behind bins that are in
  /// hand.
  std::uint64_t pass(std::uint64_t ticket) noexcept {
    const std::uint64_t now = move_on(head_, ticket);
    return std::max(now, ticket + 1);
  }

  /// Moves `end` from `ticket` to the next number, unless another thread has done so. Returns where
  /// `end` is now.
  static std::uint64_t move_on(sync::atomic<std::uint64_t>& end, std::uint64_t ticket) noexcept {
    if (end.compare_exchange_strong(ticket, ticket + 1, sync::edge("bin:move_on", sync::release),
                                    sync::edge("bin:find", sync::acquire))) {
      return ticket + 1;
    }
    return ticket;
  }

  alignas(64) sync::atomic<std::uint64_t> tail_{0};
  alignas(64) sync::atomic<std::uint64_t> head_{0};
  alignas(64) std::array<sync::atomic<Word>, bins> bins_{};
};

}  // namespace HEIST_NAMESPACE::detail
