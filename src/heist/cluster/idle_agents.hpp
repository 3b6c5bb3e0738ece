// IdleAgents: which agents sleep, and which are about to look for work.
#pragma once

#include <bit>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <optional>

namespace HEIST_NAMESPACE::detail {

// All of it is one word. Whoever wakes an agent by it has to unpark that agent as well.
//
// Roles   agent: announces, looks again, sleeps.  publisher: wakes one after it has published.
// States  (sleeping: a bit for each agent; searching: those that look for work, or were woken to,
//         and have neither found anything nor gone to sleep again).
// I1      While a published task is unclaimed: nobody sleeps, or somebody searches, or its
//         publisher is about to wake somebody.
// Why     A publisher that sees a searcher leaves it to that one: either it finds a task, and then
//         wakes another one if there is more; or it announces sleep, which ends its search in the
//         same step, and looks again afterwards.
// Edge idle: announce <-> notify. Through the queues: publish, read this word; announce, look
//         again.
// Progress  lock-free, but a searcher that is stopped holds up the wake-ups left to it.   Cost  a
//         publisher reads one word; at most one system call, none while nobody sleeps or somebody
//         searches.
// Proof   stress/model/models/cluster_sleepers.cpp.
class IdleAgents {
 public:
  static constexpr unsigned most_agents = 56;

  /// Any thread, after publishing: the agent to unpark, unless all are awake or one searches.
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
  /// From sleeping to searching; false when it does not sleep. Whoever wakes another agent has to
  /// unpark it then. Whoever wakes itself is a searcher as if it had been woken: publishers may
  /// have counted on the search that its announcement ended.
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

  /// Called by an agent with nothing to do: it looks for work before it sleeps.
  void begin_search() noexcept {
    word_.fetch_add(one_searcher, sync::edge("idle:announce", sync::seq_cst));
  }
  /// Called by a searcher that goes to sleep. A last look has to follow, and then the sleep, or
  /// wake() of itself.
  void announce(unsigned agent) noexcept {
    word_.fetch_add(bit(agent) - one_searcher, sync::edge("idle:announce", sync::seq_cst));
  }
  /// Called by a searcher that has found a task, and taken it.   Returns whether it is to look for
  /// more and wake another one.
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
