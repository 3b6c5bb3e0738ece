// ClusterClosing: ends a cluster. What is runnable runs, or everything is dropped, and nothing new
// is accepted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/detail/levels.hpp>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/sync.hpp>
#include <optional>

#include "../loop/agent_role.hpp"
#include "../loop/drain_watch.hpp"
#include "../task/close_terms.hpp"
#include "../task/task_queues.hpp"

namespace HEIST_NAMESPACE::detail {

class ClusterCore;
class LoopCore;

/// Roles   closer: any thread that closes the cluster.  member: an agent that leaves when its loop
///         is closed; members leave one after the other.  poster: any thread; a late poster drops
///         what it finds.
/// I1      Once a member begins to leave, runnable tasks are dropped: by members that leave, by
///         posters, and by members that wait. (Otherwise a task that waits for a dropped one could
///         never end, and its agent could never leave.) A task that only posts leaves the dropping
///         to them, because dropping runs users' destructors.
/// I2      What waits for its time or for a resume is dropped as well: by those that leave, that
///         wait, that arm it late, or that have kept the delays. A thread that finds the keeper's
///         role taken leaves the work to the keeper, which looks again for what was armed
///         meanwhile. The last member waits for the role, and does not give it back.
/// Edge hub: close <-> post. Publish, then read drops_; set drops_, then drop what is found.
/// Edge hub: leave -> leave. Carries what the members did to the cluster to the last one.
/// Edge hub: drop -> drop. One thread drops after another; a thread that leaves it to another one
///         has published before.
/// Edge hub: await <-> sleep. Announce (IdleAgents), then see who awaits; await, then see who
///         sleeps.
/// Proof   stress/model/models/cluster_closing.cpp
class ClusterClosing {
 public:
  /// `members` is how many members will leave.
  ClusterClosing(ClusterCore& cluster, std::uint32_t members) noexcept
      : cluster_(cluster), members_left_(members) {}
  ClusterClosing(const ClusterClosing&) = delete;
  ClusterClosing& operator=(const ClusterClosing&) = delete;

  // What any thread may call.

  /// Whether all members have left.
  [[nodiscard]] bool is_closed() const noexcept {
    return closed_.load(sync::relaxed);  // relaxed: posts that overlap may fall either way.
  }
  /// Whether runnable tasks are dropped.
  [[nodiscard]] bool has_begun() const noexcept {
    return drops_.load(sync::edge("hub:post", sync::seq_cst));
  }
  /// How many tasks were dropped that no signal had aborted.
  [[nodiscard]] std::uint64_t dropped() const noexcept {
    return dropped_.load(sync::relaxed);  // relaxed: a statistic.
  }
  /// How many tasks and continuations of a level were found in the queues and dropped.
  [[nodiscard]] std::uint64_t found(int level) const noexcept {
    return found_[static_cast<std::size_t>(level)].load(sync::relaxed);  // relaxed: a statistic.
  }
  /// The same, but of those that a signal had aborted.
  [[nodiscard]] std::uint64_t found_aborted(int level) const noexcept {
    return found_aborted_[static_cast<std::size_t>(level)].load(
        sync::relaxed);  // relaxed: as above.
  }
  /// What kind of task was posted while members leave.
  enum class Late : std::uint8_t { runnable, delayed };
  /// Called by a poster after it has published a task: drops everything if the close has come that
  /// far.
  void drop_if_begun(Late posted = Late::runnable) noexcept {
    if (has_begun()) [[unlikely]]
      drop_posted(posted);
  }
  /// Waits until nothing is runnable or about to be (nor delayed, if the terms say so), or until
  /// the terms are over. Returns false when `look_at` has come first.
  bool wait_until_quiet(const CloseTerms& terms,
                        std::optional<CloseTerms::Clock::time_point> look_at = {}) noexcept;
  /// To be called once the terms have become stricter: makes waiting calls of close look at them
  /// again.
  void hurry_closers() noexcept;
  /// Called by a closer once all members are asked to close. They may all be busy, or wait for
  /// tasks that nobody may run any more. What another thread is about to drop is counted when this
  /// returns, unless that takes long.
  void drop_for_closer() noexcept;
  /// Which members wait, and for what.   Errors: std::bad_alloc.
  [[nodiscard]] DrainObstacle find_obstacle();

  // What a member calls.

  /// Notes that the member goes to sleep, so that closers look whether all members sleep.
  void note_sleep() noexcept;
  /// Called by a member that is about to wait: drops what nobody may run any more.   Cost: a load.
  void drop_if_left() noexcept;
  /// Called before the member's own loop is closed: from now on runnable tasks of the cluster are
  /// dropped.
  void begin_to_leave() noexcept { drops_.store(true, sync::edge("hub:close", sync::seq_cst)); }
  /// Called once the member's own loop is closed. The last member drops all that is left.
  void leave(LoopCore& agent) noexcept HEIST_ON_AGENT;

 private:
  class ClusterDrops;

  void drop_posted(Late posted) noexcept;
  void drop_for_waiter() noexcept;
  void drop_waiting(LoopCore* agent = nullptr) noexcept;
  void drop_taken(TaskFifo& tasks) noexcept;
  void drop_found() noexcept;
  void drop_all(LoopCore& agent) noexcept HEIST_ON_AGENT;
  void count_drop(const LoopNode& node) noexcept;
  void count_found(const LoopNode& node, int level) noexcept;

  [[nodiscard]] bool all_sleep() noexcept;
  [[nodiscard]] bool is_quiet(bool also_delayed) noexcept;
  [[nodiscard]] bool holds_something() noexcept;
  [[nodiscard]] bool has_more_to_come() noexcept;
  [[nodiscard]] std::uint64_t count_sleeps() const noexcept;

  ClusterCore& cluster_;
  alignas(64) sync::atomic<bool> drops_{false};  ///< some member leaves
  sync::atomic<bool> closed_{false};             ///< all members have left
  sync::atomic<std::uint32_t> members_left_;
  sync::atomic<std::uint32_t> drop_requests_{0};
  sync::atomic<std::uint64_t> dropped_{0};  ///< tasks that no signal had aborted
  std::array<sync::atomic<std::uint64_t>, level_count> found_{};
  std::array<sync::atomic<std::uint64_t>, level_count> found_aborted_{};
  sync::atomic<std::uint32_t> quiet_{0};       ///< counts sleeps that a waiting closer looks at
  sync::atomic<std::uint32_t> is_awaited_{0};  ///< closers in wait_until_quiet()
};

}  // namespace HEIST_NAMESPACE::detail
