// TaskHolders: knows which agents may have tasks of one level, so that a search looks at no others.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <vector>

#include "agent_groups.hpp"

namespace HEIST_NAMESPACE::detail {

// Roles   owner: the agent that a bit stands for; it alone sets and clears the bit.  looker: any
//         agent.
// I1      While an agent has a task that it has published, its bit is set: the owner sets the bit
//         after it has pushed the task and before it raises the hint, and clears the bit only when
//         it has nothing left. Others can take its tasks meanwhile, but only the owner adds any.
// Edge holders: add <-> look. Through the queues: push, add, then read the hint and the idle
//         agents; announce (of a hint or of a sleep), then look.
// Progress  wait-free.
// Cost    A look reads one word for each 64 agents, and again where a range ends within a word. An
//         owner that has tasks all the time writes nothing.
// Proof   stress/model/models/cluster_{queues,hint,sleepers}.cpp, fork_deque.cpp.
class TaskHolders {
 public:
  /// Errors: std::bad_alloc.
  explicit TaskHolders(unsigned agents)
      : agents_(agents), lines_((agents + agents_in_line - 1) / agents_in_line) {}

  /// Called by the owner.
  void add(unsigned agent) noexcept {
    word(agent).fetch_or(bit(agent), sync::edge("holders:add", sync::seq_cst));
  }
  /// Called by the owner.
  void remove(unsigned agent) noexcept {
    // relaxed: the owner has nothing that anybody could miss, and add() comes later in this order.
    word(agent).fetch_and(~bit(agent), sync::relaxed);
  }

  /// Calls `look(agent)` for each holder, those behind `after` first and `after` itself last, until
  /// it returns true. Returns whether it did.
  template <class Look>
  bool find_after(unsigned after, Look&& look) const noexcept {
    return find_in({after + 1, agents_}, look) || find_in({0, after + 1}, look);
  }
  /// The same, but the holders in the range `near` come first. `after` itself comes last of its
  /// range.
  template <class Look>
  bool find_near(unsigned after, AgentGroups::Range near, Look&& look) const noexcept {
    const unsigned behind = after >= near.begin && after < near.end ? after + 1 : near.begin;
    return find_in({behind, near.end}, look) || find_in({near.begin, behind}, look) ||
           find_in({near.end, agents_}, look) || find_in({0, near.begin}, look);
  }

 private:
  using Word = std::uint64_t;
#if defined(HEIST_MODEL)
  static constexpr unsigned agents_in_word = 1;
  static constexpr unsigned words_in_line = 1;
#else
  static constexpr unsigned agents_in_word = 64;
  static constexpr unsigned words_in_line = 8;
#endif
  static constexpr unsigned agents_in_line = agents_in_word * words_in_line;
  struct alignas(64) Line {
    std::array<sync::atomic<Word>, words_in_line> words{};
  };

  static Word bit(unsigned agent) noexcept { return Word{1} << agent % agents_in_word; }
  sync::atomic<Word>& word(unsigned agent) noexcept {
    const unsigned at = agent / agents_in_word;
    return lines_[at / words_in_line].words[at % words_in_line];
  }
  template <class Look>
  bool find_in(AgentGroups::Range range, Look& look) const noexcept {
    for (unsigned begin = range.begin; begin < range.end;) {
      const unsigned end = std::min(range.end, (begin / agents_in_word + 1) * agents_in_word);
      if (find_in_word({begin, end}, look)) return true;
      begin = end;
    }
    return false;
  }
  /// The same for a range that is not empty and lies in one word.
  template <class Look>
  bool find_in_word(AgentGroups::Range range, Look& look) const noexcept {
    const unsigned at = range.begin / agents_in_word;
    const auto& word = lines_[at / words_in_line].words[at % words_in_line];
    const Word among = (bit(range.end - 1) | (bit(range.end - 1) - 1)) & ~(bit(range.begin) - 1);
    Word left = word.load(sync::edge("holders:look", sync::seq_cst)) & among;
    for (; left != 0; left &= left - 1) {
      if (look(at * agents_in_word + static_cast<unsigned>(std::countr_zero(left)))) return true;
    }
    return false;
  }

  unsigned agents_;
  std::vector<Line> lines_;
};

}  // namespace HEIST_NAMESPACE::detail
