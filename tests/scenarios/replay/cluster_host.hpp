// A cluster as the host of a scenario.
#pragma once

#include <cstdint>
#include <heist/agent_cluster.hpp>
#include <latch>

#include "scenarios/replay/host.hpp"

namespace heist::test {

/// The scenario is the first agent's. In a cluster of several, stealable background tasks keep all
/// of them at work meanwhile, the first one when it has nothing more urgent: what is bound keeps
/// its order.
class ClusterHost final : public Host {
 public:
  /// Precondition: the stage is one of a cluster.
  explicit ClusterHost(const ReplayOptions& options);

  [[nodiscard]] Scheduler scheduler() const override { return scheduler_; }
  [[nodiscard]] bool run(std::function<void()> first) override;
  void spend(std::chrono::milliseconds time) override;

 private:
  void keep_busy();
  void look_whether_quiet(std::uint64_t run_before);
  [[nodiscard]] bool is_first_agent() const { return Agent::current() == &first_; }

  std::latch quiet_{1};
  std::uint64_t others_run_ = 0;  ///< by the first agent, which is the only one to touch it
  AgentCluster cluster_;
  Agent& first_ = cluster_.agent(0);
  Scheduler scheduler_;
};

}  // namespace heist::test
