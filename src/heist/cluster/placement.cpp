#include "placement.hpp"

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <ranges>
#include <utility>

namespace HEIST_NAMESPACE::detail {

namespace {

/// Divides `agents` so that after each group the groups so far have their share, rounded.
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
  unsigned cpus = 0;
  for (const auto& group : cpus_) cpus = std::max(cpus, std::ranges::max(group) + 1);
  near_.resize(cpus);
  for (unsigned group = groups_.count(); group-- > 0;) {
    for (const unsigned cpu : cpus_[group]) near_[cpu] = groups_.range(group).begin;
  }
}

int Placement::cpu_of(unsigned agent) const noexcept {
  const auto& cpus = cpus_of(agent);
  return static_cast<int>(cpus[(agent - groups_.first_near(agent)) % cpus.size()]);
}

unsigned Placement::near_this_cpu() const noexcept {
  const auto cpu = static_cast<std::size_t>(sched_getcpu());  // an error is larger than any CPU
  return cpu < near_.size() ? near_[cpu] : 0;
}

}  // namespace HEIST_NAMESPACE::detail
