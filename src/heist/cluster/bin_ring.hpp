// BinRing: the tasks of one level from outside the cluster; any thread posts, any agent takes.
#pragma once

#include <array>
#include <cstdint>
#include <heist/loop_node.hpp>
#include <heist/sync.hpp>

namespace heist {

// A ring of bins; a bin holds a chain of at most `most` tasks, newest first, in one word. Tickets number the
// bins of all rounds: ticket t is bin t % bins in round t / bins.
//
// Roles   poster: any thread.  taker: any agent.
// States  of a bin's word: (round, chain, count). A bin of an earlier round than its ticket's has not been taken
//         yet (the ring is full); of a later round, it has been taken.
// I1      A word never comes back within a round: each post lengthens the chain, a take ends the round.
// I2      A bin gets tasks only when every bin before it is full or taken: tasks leave in the order of the CASes
//         of post(), at most `most` at once.
// I3      Posters never dereference what they find in a bin.
// I4      head_ and tail_ only help: who finds one behind (the bin's round says so) moves it on.
// Edge bin: publish -> search. Carries the tasks.
// Edge bin: publish <-> search. Post, then read the hint and the sleepers; announce, then search. A search that reads a
//         bin before its first post stops there, so that post must come before those to later bins in S: who posts
//         behind a bin has searched it, or comes behind one who has (move_on -> find).
// Edge bin: move_on -> find. Carries nothing but that order. (No model shows its need: S is the order of steps there.)
// Progress  lock-free; a frozen poster or taker stops nobody.
// Bound   bins * most tasks; what comes then goes into the last bin, whatever it holds (cluster_broken.cpp). Rounds are
//         counted modulo 2^15: a thread that stalls for 2^14 rounds between its two looks takes old for new.
// Proof   stress/model/models/cluster_{queues,hint}.cpp.
template <unsigned bins, unsigned most>
class BinRing {
 public:
  /// Any thread. One CAS, one more behind a bin that was taken or is full, and retries where posters meet.
  void post(LoopNode& task) noexcept {
    std::uint64_t ticket = tail_.load(sync::edge("bin:find", sync::acquire));
    bool overfill = false;
    for (;;) {
      Word old = bin(ticket).load(sync::edge("bin:search", sync::seq_cst));
      const int lag = rounds_ahead(old, ticket);
      if (lag < 0) {
        --ticket;
        overfill = true;
      } else if (lag > 0 || (count(old) == most && !overfill)) {
        ticket = move_on(tail_, ticket);
        overfill = false;
      } else if (push(bin(ticket), old, task)) {
        return;
      }
    }
  }

  /// An agent: the oldest tasks, oldest first; null when there is none.
  [[nodiscard]] LoopNode* take() noexcept {
    for (;;) {
      std::uint64_t ticket = 0;
      Word old = first(ticket);
      if (chain(old) == nullptr) return nullptr;
      // relaxed, both: first() has acquired what it takes, and who wins is the order of one word; a failure retries.
      if (bin(ticket).compare_exchange_strong(old, word(nullptr, 0, round_of(ticket) + 1U),
                                              sync::relaxed, sync::relaxed)) {
        move_on(head_, ticket);
        return oldest_first(chain(old));
      }
    }
  }

  /// An agent: whether take() would give something; every post that completed before is seen.
  [[nodiscard]] bool has_tasks() noexcept {
    std::uint64_t ticket = 0;
    return chain(first(ticket)) != nullptr;
  }

  /// A checker: all words that decide, and the tasks of the first bin.
  template <class Visit>
  void each_word(Visit&& visit) {
    visit(head_);
    for (auto& each : bins_) visit(each);
  }
  [[nodiscard]] bool holds(const LoopNode& task) const {
    for (const auto& each : bins_) {
      // relaxed: a checker's.
      for (auto* at = chain(each.load(sync::relaxed)); at != nullptr; at = at->next) {
        if (at == &task) return true;
      }
    }
    return false;
  }

 private:
  // 15 bits of round, 44 bits of address (aligned to 16), 5 bits of count.
  using Word = std::uint64_t;
  static constexpr unsigned address_bits = 48;
  static constexpr unsigned round_shift = 49;
  static constexpr Word count_mask = 31;
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
  static Word round_of(std::uint64_t ticket) noexcept { return ticket / bins; }
  /// Of the bin's word, before (negative) or behind its ticket's round.
  static int rounds_ahead(Word word, std::uint64_t ticket) noexcept {
    constexpr unsigned spare = 32 - (64 - round_shift);
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(round(word) - round_of(ticket))
                                     << spare) >>
           spare;
  }

  sync::atomic<Word>& bin(std::uint64_t ticket) noexcept { return bins_[ticket % bins]; }

  bool push(sync::atomic<Word>& to, Word& old, LoopNode& task) noexcept {
    task.next = chain(old);
    const Word longer = count(old) < most ? count(old) + 1 : most;
    return to.compare_exchange_weak(old, word(&task, longer, round(old)),
                                    sync::edge("bin:publish", sync::seq_cst),
                                    sync::relaxed);  // relaxed: a failure retries.
  }

  /// The word of the first bin that has not been taken, and its ticket.
  Word first(std::uint64_t& ticket) noexcept {
    ticket = head_.load(sync::edge("bin:search", sync::seq_cst));
    for (;;) {
      const Word found = bin(ticket).load(sync::edge("bin:search", sync::seq_cst));
      if (rounds_ahead(found, ticket) <= 0) return found;
      ticket = move_on(head_, ticket);
    }
  }

  /// From `ticket` to the next, unless another thread did. Where it is now.
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

}  // namespace heist
