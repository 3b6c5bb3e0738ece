// LimitsToArm: time limits of signals that other threads have set, until they are in the wheel.
#pragma once

#include <cstdint>
#include <heist/detail/scheduler_task.hpp>

#include "../concurrent/inbox.hpp"

namespace HEIST_NAMESPACE::detail {

class WaitingTasks;

/// Limits do not stand in line with the rest of what threads post, so that they are armed in time
/// however much that is (DLY-6).
///
/// Roles   poster: any thread.  owner: a loop's agent, a cluster's keeper.
/// I1      While the inbox says "asleep", the owner does not look. The poster that finds it so
///         sends a message. After that message the owner looks until nothing is left.
/// I2      A keeper looks whenever there is something, whether it was told or not. The poster that
///         has to send the message may be stopped before it does, and if its own limit ends late,
///         it wakes nobody. A poster that came after it may have woken the watcher for a limit that
///         ends earlier, and the watcher must find that limit.
/// Progress  lock-free. If a poster is stopped before it sends its message to a loop, the limits
///         behind its own wait for it.
/// Proof   stress/model/models/time_limits.cpp
class LimitsToArm {
 public:
  LimitsToArm() noexcept { static_cast<void>(inbox_.try_sleep()); }

  // What any thread may call.

  /// Posts a limit. `below` is what try_take_back() needs.
  [[nodiscard]] Inbox::PostResult post(SchedulerTask& limit, Inbox::Below& below) noexcept {
    return inbox_.post(limit, below);
  }
  /// Whether the limit is the caller's again, as if it had not been posted.
  [[nodiscard]] bool try_take_back(SchedulerTask& limit, Inbox::Below below) noexcept {
    return inbox_.try_take_back(limit, below);
  }
  [[nodiscard]] bool has_posts_by_now() const noexcept { return inbox_.has_posts_by_now(); }
  /// Cost: a walk over all of them.
  [[nodiscard]] std::uint64_t count() noexcept { return inbox_.count_tasks(); }

  // What only the owner calls.

  /// Notes that the message has come.
  void note() noexcept { is_told_ = true; }
  /// Whether the owner has to look.
  [[nodiscard]] bool is_told() const noexcept { return is_told_; }
  /// Whether the owner was told of limits, or has left some of those that it took.
  [[nodiscard]] bool has_more() const noexcept { return is_told_ || inbox_.has_left(); }
  /// Whether no limit is here, not even one of which the owner was not told yet.
  [[nodiscard]] bool is_idle() const noexcept { return inbox_.is_asleep(); }
  /// Arms a portion. When there are no more limits, the next one to come tells the owner.
  void arm_some(WaitingTasks& into) noexcept;
  void arm_all(WaitingTasks& into) noexcept {
    while (is_told_) arm_some(into);
  }
  /// Arms all limits that were posted, and refuses later ones.
  void close(WaitingTasks& into) noexcept;

 private:
  /// How many limits are armed at a time, and how many are put into order for that.
  static constexpr unsigned portion = 1024;
  static constexpr unsigned turned_portion = 8192;

  Inbox inbox_;
  bool is_told_ = false;
};

}  // namespace HEIST_NAMESPACE::detail
