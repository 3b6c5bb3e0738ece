// IdleAgents: knows which agents sleep, and how many look for work or are about to.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <optional>

namespace HEIST_NAMESPACE::detail {

// A thread that wakes an agent here has to unpark that agent afterwards.
//
// Roles   agent: announces, looks again, sleeps.  publisher: wakes one after it has published.
// States  sleeping_: a bit for each agent.  searching_: how many agents look for work, or were
//         woken to do so, and have neither found anything nor gone to sleep again; and how many
//         threads are about to wake one.
// I1      While a published task is unclaimed, nobody sleeps, or somebody searches, or the
//         publisher of the task is about to wake somebody.
// I2      Whoever wakes an agent counts a searcher first, and takes the agent's bit then. So an
//         agent that finds its bit taken is counted, and may end its search.
// I3      Whoever counts a searcher that it cannot send after all takes the count back and looks
//         again whom to wake, because publishers may have left their tasks to that searcher.
// Why     A publisher that sees a searcher leaves the task to it. Either the searcher finds a task,
//         and then wakes another agent if there is more. Or it announces sleep, and looks again
//         after that. It is enough that the publisher reads the words one after the other: an agent
//         that does not sleep when its bit is read looks for work after it has announced its sleep,
//         and finds what was published before.
// Edge idle: announce <-> notify. Through the queues: publish, read the words; announce, look
//         again.
// Progress  lock-free, but a searcher that is stopped holds up the wake-ups that were left to it.
// Cost    A publisher reads the count and, if nobody searches, a word for each 64 agents. It makes
//         at most one system call; it makes none while nobody sleeps or somebody searches.
// Proof   stress/model/models/cluster_sleepers.cpp.
class IdleAgents {
 public:
#if !defined(HEIST_MODEL)
  static constexpr unsigned most_agents = 1024;
#else
  static constexpr unsigned most_agents = 4;
#endif

  /// The indices from `first_reserve` on are woken last.
  IdleAgents(unsigned agents, unsigned first_reserve) noexcept
      : agents_(agents), first_reserve_(first_reserve) {}
  explicit IdleAgents(unsigned agents) noexcept : IdleAgents(agents, agents) {}

  /// Called by any thread after it has published: returns the agent to unpark, the first that
  /// sleeps from `near` on, or else from the beginning on, or else a reserve. Returns nothing when
  /// all are awake, or when one searches.
  [[nodiscard]] std::optional<unsigned> notify(unsigned near) noexcept {
    while (wants_notice()) {
      std::uint32_t none = 0;
      if (!searching_.compare_exchange_strong(none, 1, sync::edge("idle:notify", sync::seq_cst),
                                              sync::edge("idle:notify", sync::seq_cst))) {
        return std::nullopt;
      }
      if (const auto agent = take_any(near)) return agent;
      take_back_searcher();
    }
    return std::nullopt;
  }
  /// Called by any thread after it has published: whether it has to call notify().
  [[nodiscard]] bool wants_notice() const noexcept {
    return searching_.load(sync::edge("idle:notify", sync::seq_cst)) == 0 && has_sleepers();
  }
  /// Called by any thread that wants this agent to wake. Returns the agent to unpark, or nothing
  /// when it does not sleep. (It may be another one, see I3.)
  [[nodiscard]] std::optional<unsigned> wake(unsigned agent) noexcept {
    if (!sleeps(agent)) return std::nullopt;
    begin_search();
    if (take(agent)) return agent;
    take_back_searcher();
    return notify(0);
  }
  /// Called by an agent that is awake again. It is a searcher then, as if it had been woken,
  /// because publishers may have counted on the search that its announcement ended.
  void end_sleep(unsigned agent) noexcept {
    if (take(agent)) begin_search();
  }

  /// Called by an agent that has nothing to do: it looks for work before it sleeps.
  void begin_search() noexcept {
    searching_.fetch_add(1, sync::edge("idle:announce", sync::seq_cst));
  }
  /// Called by a searcher that goes to sleep. It has to look a last time then, and afterwards sleep
  /// or call end_sleep().
  void announce(unsigned agent) noexcept {
    word(agent).fetch_or(bit(agent), sync::edge("idle:announce", sync::seq_cst));
    searching_.fetch_sub(1, sync::edge("idle:announce", sync::seq_cst));
  }
  /// Called by a searcher that has found a task and taken it. Returns whether it has to look for
  /// more and wake another agent.
  [[nodiscard]] bool end_search() noexcept {
    searching_.fetch_sub(1, sync::edge("idle:announce", sync::seq_cst));
    return has_sleepers();
  }

  [[nodiscard]] bool sleeps(unsigned agent) const noexcept {
    const Word now =
        sleeping_[agent / agents_in_word].load(sync::edge("idle:notify", sync::seq_cst));
    return (now & bit(agent)) != 0;
  }

 private:
  using Word = std::uint64_t;
#if defined(HEIST_MODEL)
  static constexpr unsigned agents_in_word = 1;
#else
  static constexpr unsigned agents_in_word = 64;
#endif

  static Word bit(unsigned agent) noexcept { return Word{1} << agent % agents_in_word; }
  sync::atomic<Word>& word(unsigned agent) noexcept { return sleeping_[agent / agents_in_word]; }

  [[nodiscard]] bool has_sleepers() const noexcept {
    for (unsigned at = 0; at * agents_in_word < agents_; ++at) {
      if (sleeping_[at].load(sync::edge("idle:notify", sync::seq_cst)) != 0) return true;
    }
    return false;
  }
  bool take(unsigned agent) noexcept {
    const Word before =
        word(agent).fetch_and(~bit(agent), sync::edge("idle:notify", sync::seq_cst));
    return (before & bit(agent)) != 0;
  }
  [[nodiscard]] std::optional<unsigned> take_any(unsigned near) noexcept {
    if (const auto agent = take_in(near, first_reserve_)) return agent;
    if (const auto agent = take_in(0, near)) return agent;
    return take_in(first_reserve_, agents_);
  }
  /// Takes the first sleeper from `begin` on and before `end`.
  [[nodiscard]] std::optional<unsigned> take_in(unsigned begin, unsigned end) noexcept {
    while (begin < end) {
      const unsigned at = begin / agents_in_word;
      const unsigned end_here = std::min(end, (at + 1) * agents_in_word);
      const Word up_to = bit(end_here - 1) | (bit(end_here - 1) - 1);
      if (const auto agent = take_of(at, up_to & ~(bit(begin) - 1))) return agent;
      begin = end_here;
    }
    return std::nullopt;
  }
  /// Takes the first of these agents of a word.
  [[nodiscard]] std::optional<unsigned> take_of(unsigned at, Word among) noexcept {
    Word old = sleeping_[at].load(sync::edge("idle:notify", sync::seq_cst));
    while ((old & among) != 0) {
      const Word first = old & among & ~((old & among) - 1);
      if (sleeping_[at].compare_exchange_weak(old, old & ~first,
                                              sync::edge("idle:notify", sync::seq_cst),
                                              sync::edge("idle:notify", sync::seq_cst))) {
        return at * agents_in_word + static_cast<unsigned>(std::countr_zero(first));
      }
    }
    return std::nullopt;
  }
  void take_back_searcher() noexcept {
    searching_.fetch_sub(1, sync::edge("idle:notify", sync::seq_cst));
  }

  alignas(64) sync::atomic<std::uint32_t> searching_{0};
  const unsigned agents_;
  const unsigned first_reserve_;
  std::array<sync::atomic<Word>, most_agents / agents_in_word> sleeping_{};
};

}  // namespace HEIST_NAMESPACE::detail
