// Placement: in which parts of the machine the agents of a cluster run.
#pragma once

#include <heist/topology.hpp>
#include <heist/version.hpp>
#include <vector>

#include "queues/agent_groups.hpp"

namespace HEIST_NAMESPACE::detail {

/// Divides the agents of a cluster among groups of CPUs, in proportion to the number of CPUs, but
/// gives each group one if there are enough.
class Placement {
 public:
  /// One group, whose agents run anywhere.   Errors: std::bad_alloc.
  explicit Placement(unsigned agents) : groups_(agents) {}
  /// Groups for which there is no agent are left out.   Precondition: `agents` is not 0, and no
  /// group is empty. Errors: std::bad_alloc.
  Placement(const Topology& topology, unsigned agents);

  [[nodiscard]] const AgentGroups& groups() const noexcept { return groups_; }
  /// Whether each agent is to run on the CPUs of its group only.
  [[nodiscard]] bool is_confined() const noexcept { return !cpus_.empty(); }
  /// The CPUs of this agent's group.   Precondition: is_confined().
  [[nodiscard]] const std::vector<unsigned>& cpus_of(unsigned agent) const noexcept {
    return cpus_[groups_.of(agent)];
  }
  /// The CPU for an agent that is to run on one only.   Precondition: is_confined().
  [[nodiscard]] int cpu_of(unsigned agent) const noexcept;

  /// The first agent of the group of this CPU. CPUs of no group belong to the groups by turns.
  [[nodiscard]] unsigned near_cpu(unsigned cpu) const noexcept;
  /// The same for the CPU on which the calling thread runs.
  ///
  /// Thread: any.   Cost: nothing with one group; otherwise it asks on which CPU the thread runs.
  [[nodiscard]] unsigned near_here() const noexcept {
    return groups_.count() == 1 ? 0 : near_this_cpu();
  }

 private:
  [[nodiscard]] unsigned near_this_cpu() const noexcept;

  Topology cpus_;  ///< of each group; empty: anywhere
  AgentGroups groups_;
  std::vector<unsigned> near_;  ///< for each CPU the first agent of its group
};

}  // namespace HEIST_NAMESPACE::detail
