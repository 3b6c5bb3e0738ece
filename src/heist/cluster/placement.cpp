#include "placement.hpp"

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace HEIST_NAMESPACE::detail {

namespace {

/// Divides `agents` so that after each group the groups so far have their share, rounded; but each
/// group has an agent if there are enough.
std::vector<unsigned> shares_of(const Topology& topology, unsigned agents) {
  std::size_t all = 0;
  for (const auto& cpus : topology) all += cpus.size();
  std::vector<unsigned> shares;
  std::size_t so_far = 0;
  unsigned given = 0;
  for (const auto& cpus : topology) {
    so_far += cpus.size();
    const auto end = static_cast<unsigned>((agents * so_far + all / 2) / all);
    shares.push_back(end - std::exchange(given, end));
  }
  if (agents < shares.size()) return shares;
  for (unsigned& share : shares) {
    if (share != 0) continue;
    --*std::ranges::max_element(shares);
    share = 1;
  }
  return shares;
}

std::vector<unsigned> without_empty(std::vector<unsigned> shares) {
  std::erase(shares, 0U);
  return shares;
}

Topology with_agents(const Topology& topology, const std::vector<unsigned>& shares) {
  Topology kept;
  for (std::size_t group = 0; group < topology.size(); ++group) {
    if (shares[group] != 0) kept.push_back(topology[group]);
  }
  return kept;
}

}  // namespace

Placement::Placement(const Topology& topology, unsigned agents)
    : cpus_(with_agents(topology, shares_of(topology, agents))),
      groups_(without_empty(shares_of(topology, agents))) {
  for (unsigned group = groups_.count(); group-- > 0;) {  // so that a CPU is of its first group
    for (const unsigned cpu : cpus_[group]) {
      for (auto next = static_cast<unsigned>(near_.size()); next <= cpu; ++next) {
        near_.push_back(groups_.range(next % groups_.count()).begin);
      }
      near_[cpu] = groups_.range(group).begin;
    }
  }
}

int Placement::cpu_of(unsigned agent) const noexcept {
  const auto& cpus = cpus_of(agent);
  return static_cast<int>(cpus[(agent - groups_.first_near(agent)) % cpus.size()]);
}

unsigned Placement::near_cpu(unsigned cpu) const noexcept {
  return cpu < near_.size() ? near_[cpu] : groups_.range(cpu % groups_.count()).begin;
}

unsigned Placement::near_this_cpu() const noexcept {
  const int cpu = sched_getcpu();
  return near_cpu(cpu >= 0 ? static_cast<unsigned>(cpu) : 0);
}

}  // namespace HEIST_NAMESPACE::detail
