// IdleAgents: knows which agents sleep, and which are looking for work or about to.
#pragma once

#include <bit>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <optional>

namespace HEIST_NAMESPACE::detail {

// This is one word. A thread that wakes an agent in the word has to unpark that agent afterwards.
//
// Roles   agent: announces, looks again, sleeps.  publisher: wakes one after it has published.
// States  (sleeping: a bit for each agent; searching: how many agents look for work, or were woken
//         to do so, and have neither found anything nor gone to sleep again).
// I1      While a published task is unclaimed, nobody sleeps, or somebody searches, or the
//         publisher of the task is about to wake somebody.
// Why     A publisher that sees a searcher leaves the task to it. Either the searcher finds a task,
//         and then wakes another agent if there is more. Or it announces sleep, which ends its
//         search in the same step, and looks again afterwards.
// Edge idle: announce <-> notify. Through the queues: publish, read this word; announce, look
//         again.
// Progress  lock-free, but a searcher that is stopped holds up the wake-ups that were left to it.
// Cost    A publisher reads one word and makes at most one system call; it makes none while
//         nobody sleeps or somebody searches.
// Proof   stress/model/models/cluster_sleepers.cpp.
class IdleAgents {
 public:
  static constexpr unsigned most_agents = 56;

  /// Called by any thread after it has published: returns the agent to unpark. Returns nothing when
  /// all agents are awake or one searches.
  [[nodiscard]] std::optional<unsigned> notify() noexcept {
    Word old = word_.load(sync::edge("idle:notify", sync::seq_cst));
    while (sleeping(old) != 0 && searching(old) == 0) {
      const auto agent = static_cast<unsigned>(std::countr_zero(sleeping(old)));
      if (word_.compare_exchange_weak(old, (old & ~bit(agent)) + one_searcher,
                                      sync::edge("idle:notify", sync::seq_cst),
                                      sync::edge("idle:notify", sync::seq_cst))) {
        return agent;
      }
    }
    return std::nullopt;
  }
  /// Moves an agent from sleeping to searching. Returns false when it does not sleep. A caller that
  /// wakes another agent has to unpark it then. An agent that wakes itself becomes a searcher as if
  /// it had been woken, because publishers may have counted on the search that its announcement
  /// ended.
  bool wake(unsigned agent) noexcept {
    Word old = word_.load(sync::edge("idle:notify", sync::seq_cst));
    while ((old & bit(agent)) != 0) {
      if (word_.compare_exchange_weak(old, old - bit(agent) + one_searcher,
                                      sync::edge("idle:notify", sync::seq_cst),
                                      sync::edge("idle:notify", sync::seq_cst))) {
        return true;
      }
    }
    return false;
  }

  /// Called by an agent that has nothing to do: it looks for work before it sleeps.
  void begin_search() noexcept {
    word_.fetch_add(one_searcher, sync::edge("idle:announce", sync::seq_cst));
  }
  /// Called by a searcher that goes to sleep. It has to look a last time then, and afterwards sleep
  /// or wake() itself.
  void announce(unsigned agent) noexcept {
    word_.fetch_add(bit(agent) - one_searcher, sync::edge("idle:announce", sync::seq_cst));
  }
  /// Called by a searcher that has found a task and taken it. Returns whether it has to look for
  /// more and wake another agent.
  [[nodiscard]] bool end_search() noexcept {
    return sleeping(word_.fetch_sub(one_searcher, sync::edge("idle:announce", sync::seq_cst))) != 0;
  }

  /// For a close: a bit for each agent that sleeps; no bit while an agent searches.
  [[nodiscard]] std::uint64_t asleep() const noexcept {
    const Word now = word_.load(sync::edge("idle:notify", sync::seq_cst));
    return searching(now) != 0 ? 0 : sleeping(now);
  }

 private:
  using Word = std::uint64_t;
  static constexpr Word one_searcher = Word{1} << most_agents;
  static Word bit(unsigned agent) noexcept { return Word{1} << agent; }
  static Word sleeping(Word word) noexcept { return word & (one_searcher - 1); }
  static Word searching(Word word) noexcept { return word >> most_agents; }

  alignas(64) sync::atomic<Word> word_{0};
};

}  // namespace HEIST_NAMESPACE::detail
