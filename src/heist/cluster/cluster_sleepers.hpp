// ClusterSleepers: knows which of a cluster's agents sleep, and wakes them.
#pragma once

#include <heist/detail/ref.hpp>
#include <utility>
#include <vector>

#include "../loop/loop_core.hpp"
#include "idle_agents.hpp"

namespace HEIST_NAMESPACE::detail {

class ClusterSleepers {
 public:
  explicit ClusterSleepers(std::vector<Ref<LoopCore>> loops) noexcept
      : idle_(static_cast<unsigned>(loops.size())), loops_(std::move(loops)) {}

  /// Called by any thread after it has published: wakes one agent, unless all are awake or one
  /// searches.
  void notify() noexcept {
    if (idle_.wants_notice()) [[unlikely]]
      wake_one();
  }
  /// Called by any thread: wakes this agent if it sleeps.
  void wake(unsigned agent) noexcept {
    if (const auto woken = idle_.wake(agent)) unpark(*woken);
  }
  [[nodiscard]] IdleAgents& idle() noexcept { return idle_; }
  [[nodiscard]] const std::vector<Ref<LoopCore>>& loops() const noexcept { return loops_; }

 private:
  [[gnu::noinline]] void wake_one() noexcept {
    if (const auto agent = idle_.notify()) unpark(*agent);
  }
  [[gnu::noinline]] void unpark(unsigned agent) noexcept { loops_[agent]->sleep().wake_up(); }

  IdleAgents idle_;
  std::vector<Ref<LoopCore>> loops_;
};

}  // namespace HEIST_NAMESPACE::detail
