// TaskHolders: knows which agents may have tasks of one level, so that a search looks at no others.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <vector>

namespace HEIST_NAMESPACE::detail {

// Roles   owner: the agent that a bit stands for; it alone sets and clears the bit.  looker: any
//         agent.
// I1      While an agent has a task that it has published, its bit is set: the owner sets the bit
//         after it has pushed the task and before it raises the hint, and clears the bit only when
//         it has nothing left. Others can take its tasks meanwhile, but only the owner adds any.
// Edge holders: add <-> look. Through the queues: push, add, then read the hint and the idle
//         agents; announce (of a hint or of a sleep), then look.
// Progress  wait-free.
// Cost    A look reads one word for each 64 agents, the looker's own word twice. An owner that has
//         tasks all the time writes nothing.
// Proof   stress/model/models/cluster_{queues,hint,sleepers}.cpp, fork_deque.cpp.
class TaskHolders {
 public:
  /// Errors: std::bad_alloc.
  explicit TaskHolders(unsigned agents)
      : words_((agents + agents_in_word - 1) / agents_in_word),
        lines_((words_ + words_in_line - 1) / words_in_line) {}

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
    const unsigned first = after / agents_in_word;
    const Word up_to = bit(after) | (bit(after) - 1);
    if (find_in(first, ~up_to, look)) return true;
    for (unsigned i = 1; i < words_; ++i) {
      if (find_in((first + i) % words_, ~Word{0}, look)) return true;
    }
    return find_in(first, up_to, look);
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
  struct alignas(64) Line {
    std::array<sync::atomic<Word>, words_in_line> words{};
  };

  static Word bit(unsigned agent) noexcept { return Word{1} << agent % agents_in_word; }
  sync::atomic<Word>& word(unsigned agent) noexcept {
    const unsigned at = agent / agents_in_word;
    return lines_[at / words_in_line].words[at % words_in_line];
  }
  template <class Look>
  bool find_in(unsigned at, Word among, Look& look) const noexcept {
    const auto& word = lines_[at / words_in_line].words[at % words_in_line];
    Word left = word.load(sync::edge("holders:look", sync::seq_cst)) & among;
    for (; left != 0; left &= left - 1) {
      if (look(at * agents_in_word + static_cast<unsigned>(std::countr_zero(left)))) return true;
    }
    return false;
  }

  unsigned words_;
  std::vector<Line> lines_;
};

}  // namespace HEIST_NAMESPACE::detail
