// ClusterSleepers: knows which of a cluster's agents sleep, and wakes them.
#pragma once

#include <heist/detail/ref.hpp>
#include <utility>
#include <vector>

#include "../loop/loop_core.hpp"
#include "idle_agents.hpp"
#include "queues/agent_groups.hpp"

namespace HEIST_NAMESPACE::detail {

class ClusterSleepers {
 public:
  ClusterSleepers(std::vector<Ref<LoopCore>> loops, AgentGroups groups) noexcept
      : idle_(static_cast<unsigned>(loops.size()), groups.range(groups.count() - 1).end),
        loops_(std::move(loops)),
        groups_(std::move(groups)) {}

  /// Called by any thread after it has published: wakes one agent, unless all are awake or one
  /// searches. Agents of the group of `near` come first.
  void notify(unsigned near) noexcept {
    if (idle_.wants_notice()) [[unlikely]]
      wake_one(near);
  }
  /// Called by any thread: wakes this agent if it sleeps.
  void wake(unsigned agent) noexcept {
    if (const auto woken = idle_.wake(agent)) unpark(*woken);
  }
  [[nodiscard]] IdleAgents& idle() noexcept { return idle_; }
  [[nodiscard]] const std::vector<Ref<LoopCore>>& loops() const noexcept { return loops_; }
  [[nodiscard]] const AgentGroups& groups() const noexcept { return groups_; }

 private:
  [[gnu::noinline]] void wake_one(unsigned near) noexcept {
    if (const auto agent = idle_.notify(groups_.first_near(near))) unpark(*agent);
  }
  [[gnu::noinline]] void unpark(unsigned agent) noexcept { loops_[agent]->sleep().wake_up(); }

  IdleAgents idle_;
  std::vector<Ref<LoopCore>> loops_;
  const AgentGroups groups_;
};

}  // namespace HEIST_NAMESPACE::detail
