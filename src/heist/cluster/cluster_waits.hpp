// ClusterWaits: finds members of a cluster that wait for each other (CLU-5), and says what a drain
// waits for that makes no progress.
#pragma once

#include <cstdint>
#include <heist/detail/sync.hpp>
#include <memory>
#include <string>
#include <vector>

#include "../loop/drain_watch.hpp"

namespace HEIST_NAMESPACE::detail {

class ClusterCore;
class LoopCore;
class PromiseStateBase;
class TaskHome;
struct SeenWaits;

/// Puts together what the members say of their waits. AgentWait has the edges.
class ClusterWaits {
 public:
  explicit ClusterWaits(ClusterCore& cluster) noexcept : cluster_(cluster) {}

  /// Called by a member that has begun a wait: whether nobody is left who could end the wait. When
  /// there is no memory for the look, it returns false, and find_long_waits() tells it later.
  /// Cost: three allocations, and a look at each member, twice and once more for each that waits.
  [[nodiscard]] bool is_stuck(unsigned member) noexcept;
  /// Called by a member that has waited for long; see Membership.   Errors: std::bad_alloc.
  [[nodiscard]] std::string find_long_waits(unsigned member, std::unique_ptr<SeenWaits>& seen);
  /// Called by a member that has ended a wait: returns only when nobody looks any more at what it
  /// waited for.
  void await_lookers() noexcept;
  /// Called by any thread: says which members wait, and for whom.   Errors: std::bad_alloc.
  [[nodiscard]] DrainObstacle find_obstacle();

 private:
  struct Wait;
  struct Seen;
  using Waits = std::vector<Wait>;  ///< for each member
  struct Awaited;

  [[nodiscard]] static Wait read_wait(LoopCore& member) noexcept;
  [[nodiscard]] Waits look();
  [[nodiscard]] Awaited awaited_by(const Waits& waits, const Wait& wait) const noexcept;
  [[nodiscard]] std::vector<bool> find_stuck(const Waits& waits) const;
  [[nodiscard]] std::string words_for(const Waits& waits, const Wait& wait) const;
  [[nodiscard]] std::string words_for_all(const Waits& waits) const;

  ClusterCore& cluster_;
  sync::atomic<std::uint32_t> lookers_{0};
};

}  // namespace HEIST_NAMESPACE::detail
