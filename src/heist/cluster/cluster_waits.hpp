// ClusterWaits: members of a cluster that wait for each other (CLU-5), and what a drain that does
// not get on waits for.
#pragma once

#include <array>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <memory>
#include <string>

#include "../loop/drain_watch.hpp"
#include "idle_agents.hpp"

namespace HEIST_NAMESPACE::detail {

class ClusterCore;
class LoopCore;
class PromiseStateBase;
class TaskHome;
struct SeenWaits;

/// Puts together what the members say of their waits (AgentWait, which has the edges).
class ClusterWaits {
 public:
  explicit ClusterWaits(ClusterCore& cluster) noexcept : cluster_(cluster) {}

  /// Called by a member that has begun a wait. Whether nobody is left who could end it.
  [[nodiscard]] bool is_stuck(unsigned member) noexcept;
  /// Called by a member that has waited for long; see Membership.   Errors: std::bad_alloc.
  [[nodiscard]] std::string find_long_waits(unsigned member, std::unique_ptr<SeenWaits>& seen);
  /// Called by a member that has ended a wait. Waits until nobody looks at what it waited for.
  void await_lookers() noexcept;
  /// Any thread: which members wait, and for whom.   Errors: std::bad_alloc.
  [[nodiscard]] DrainObstacle find_obstacle();

 private:
  struct Wait;
  struct Seen;
  using Waits = std::array<Wait, IdleAgents::most_agents>;

  [[nodiscard]] std::uint64_t everybody() const noexcept;
  [[nodiscard]] static Wait read_wait(LoopCore& member) noexcept;
  [[nodiscard]] Waits look() noexcept;
  [[nodiscard]] std::uint64_t awaited_by(const Waits& waits, const Wait& wait) const noexcept;
  [[nodiscard]] std::uint64_t find_stuck(const Waits& waits) const noexcept;
  [[nodiscard]] std::string words_for(const Waits& waits, const Wait& wait) const;
  [[nodiscard]] std::string words_for_all(const Waits& waits) const;

  ClusterCore& cluster_;
  sync::atomic<std::uint32_t> lookers_{0};
};

}  // namespace HEIST_NAMESPACE::detail
