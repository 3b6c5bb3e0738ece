// Epochs: decide when memory that only agents look at may be freed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <vector>

#include "active_agent_count.hpp"

namespace HEIST_NAMESPACE::detail {

/// How many cells an agent retires before it looks again at the epochs of all agents. Each look
/// reads one cache line for each agent: that is at most four lines for each cell, and with many
/// agents each of them may have as many retired cells as there are agents.
[[nodiscard]] constexpr unsigned retired_between_looks(std::size_t agents) noexcept {
#if defined(HEIST_MODEL)
  static_cast<void>(agents);
  return 1;
#else
  constexpr std::size_t least = 16;
  return static_cast<unsigned>(std::max(least, agents / 4));
#endif
}

// Memory at which agents may still look is retired. It is freed once every agent has been outside
// since then.
//
// Roles   agent: one of a known, small number; some of them take part only from a later time on
//         (enlist). Posters never look at what is retired.
// I1      While an agent is inside, the global epoch advances once at most. Before each advance
//         somebody looks at the agent, and goes on only if it has noted the present epoch. So after
//         one advance the next is refused. If the agent noted an old epoch as it entered, only an
//         advance whose look came before that can still succeed.
// I2      What was retired in epoch e is freed in epoch e + 3 or later. Whoever was inside while it
//         was still reachable has left by then.
// Edge epoch: leave -> advance. An agent's looks at memory come before that memory is freed.
// Edge epoch: advance -> retire. Passes on what the agent that advanced has seen.
// Edge epoch: enter <-> advance. Enter, then read a link; unlink, then look who is inside.
// Progress  lock-free. An agent that is frozen inside stops the freeing, not the work.
// Proof   stress/model/models/cluster_queues.cpp (the engine reports uses after free and leaks).
/// `T` has a link `retired`, and end(), which is called when the node may be freed.
template <class T>
class Epochs {
 public:
  explicit Epochs(unsigned agents) : Epochs(agents, agents) {}
  /// Only the first `enlisted` agents, and the last two, take part from the beginning.
  Epochs(unsigned agents, unsigned enlisted) : agents_(agents), enlisted_(enlisted) {}
  Epochs(const Epochs&) = delete;
  Epochs& operator=(const Epochs&) = delete;
  /// Precondition: nobody is inside any more.
  ~Epochs() {
    for (auto& agent : agents_) {
      for (auto& bag : agent.bags) empty(bag);
    }
  }

  /// The agents before `count` may enter from now on.
  void enlist(unsigned count) noexcept { enlisted_.raise(count); }

  /// A scope in which what the agent reads is not freed.
  class Inside {
   public:
    Inside(Epochs& epochs, unsigned agent) noexcept : word_(epochs.agents_[agent].epoch) {
      const auto now = epochs.global_.load(sync::edge("epoch:enter", sync::seq_cst));
      word_.exchange(now, sync::edge("epoch:enter", sync::seq_cst));
    }
    ~Inside() { word_.store(outside, sync::edge("epoch:leave", sync::release)); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    sync::atomic<std::uint64_t>& word_;
  };

  /// Called by an agent inside: nobody who has not reached `node` already can reach it from now on.
  void retire(unsigned agent, T& node) noexcept {
    auto& mine = agents_[agent];
    const auto now = global_.load(sync::edge("epoch:retire", sync::seq_cst));
    auto& bag = mine.bags[now % bag_count];
    if (bag.retired_in != now) empty(bag);
    bag.retired_in = now;
    node.retired = bag.first;
    bag.first = &node;
    if (++mine.retired < retired_between_looks(agents_.size())) return;
    mine.retired = 0;
    advance(now);
  }

 private:
  static constexpr std::uint64_t outside = 0;
  static constexpr unsigned bag_count = 3;
  struct Bag {
    std::uint64_t retired_in = 0;
    T* first = nullptr;
  };
  struct alignas(64) Agent {
    sync::atomic<std::uint64_t> epoch{outside};
    std::array<Bag, bag_count> bags;
    unsigned retired = 0;  ///< since its last look
  };

  static void empty(Bag& bag) noexcept {
    while (bag.first != nullptr) {
      T* node = bag.first;
      bag.first = node->retired;
      node->end();
    }
  }
  static bool holds_back(const Agent& agent, std::uint64_t now) noexcept {
    const auto seen = agent.epoch.load(sync::edge("epoch:advance", sync::seq_cst));
    return seen != outside && seen != now;
  }
  void advance(std::uint64_t now) noexcept {
    const std::size_t enlisted = enlisted_.count();
    for (std::size_t agent = 0; agent < enlisted; ++agent) {
      if (holds_back(agents_[agent], now)) return;
    }
    for (std::size_t last = agents_.size(); last > enlisted && last + 2 > agents_.size(); --last) {
      if (holds_back(agents_[last - 1], now)) return;
    }
    global_.compare_exchange_strong(now, now + 1, sync::edge("epoch:advance", sync::seq_cst),
                                    sync::relaxed);  // relaxed: another agent did it.
  }

  alignas(64) sync::atomic<std::uint64_t> global_{1};
  std::vector<Agent> agents_;
  ActiveAgentCount enlisted_;
};

}  // namespace HEIST_NAMESPACE::detail
