// AgentGroups: which agents of a cluster stand together, because they run in the same part of the
// machine.
#pragma once

#include <algorithm>
#include <heist/version.hpp>
#include <utility>
#include <vector>

namespace HEIST_NAMESPACE::detail {

/// The agents of a group have consecutive indices. Indices behind the last group are reserves and
/// closers. They belong to the groups by turns, but stand in no group's range.
///
/// Thread: any (pure).
class AgentGroups {
 public:
  /// The indices from `begin` up to `end`, but without it.
  struct Range {
    unsigned begin = 0;
    unsigned end = 0;
  };

  /// One group.
  explicit AgentGroups(unsigned agents) : AgentGroups(std::vector{agents}) {}
  /// How many agents each group has.   Precondition: there is a group, and none is empty.
  /// Errors: std::bad_alloc.
  explicit AgentGroups(std::vector<unsigned> sizes) : ends_(std::move(sizes)) {
    unsigned end = 0;
    for (unsigned& size : ends_) size = end += size;
  }

  [[nodiscard]] unsigned count() const noexcept { return static_cast<unsigned>(ends_.size()); }
  [[nodiscard]] Range range(unsigned group) const noexcept {
    return {.begin = group == 0 ? 0 : ends_[group - 1], .end = ends_[group]};
  }
  /// The group of an agent.   Cost: O(log groups).
  [[nodiscard]] unsigned of(unsigned agent) const noexcept {
    if (ends_.size() == 1) return 0;
    if (agent >= ends_.back()) return (agent - ends_.back()) % count();
    return static_cast<unsigned>(std::ranges::upper_bound(ends_, agent) - ends_.begin());
  }
  /// Where a search that begins in this agent's group begins.
  [[nodiscard]] unsigned first_near(unsigned agent) const noexcept {
    return range(of(agent)).begin;
  }

 private:
  std::vector<unsigned> ends_;  ///< for each group the index behind its last agent
};

}  // namespace HEIST_NAMESPACE::detail
