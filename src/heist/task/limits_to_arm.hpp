// LimitsToArm: time limits of signals that other threads have set, until they are in the wheel.
#pragma once

#include <cstdint>
#include <heist/detail/scheduler_task.hpp>

#include "../concurrent/inbox.hpp"

namespace HEIST_NAMESPACE::detail {

class WaitingTasks;

/// They do not stand in line with what else is handed over, so that a limit counts however much
/// that is (DLY-6).
///
/// Roles   poster: any thread.  owner: a loop's agent, a cluster's keeper.
/// I1      While the inbox says "asleep" the owner does not look: the poster that finds that sends
///         a message, upon which the owner looks until nothing is left.
/// I2      A keeper looks whenever there is something, told or not: the one who is to send the
///         message may be stopped before it, and wakes nobody for a limit of his own that ends
///         late. Whoever set one after him has woken the watcher for it, which is to see it.
/// Progress  lock-free; a poster that is stopped before its message to a loop holds up the limits
///         that are set behind its own.
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
  /// Whether more limits wait, be the owner told of them or not.
  [[nodiscard]] bool has_more() const noexcept { return is_told_ || inbox_.has_left(); }
  /// Nothing is here, and none was posted since, told or not.
  [[nodiscard]] bool is_idle() const noexcept { return inbox_.is_asleep(); }
  /// Arms so many. Once there are no more, the next one to come tells the owner.
  void arm_some(WaitingTasks& into) noexcept;
  void arm_all(WaitingTasks& into) noexcept {
    while (is_told_) arm_some(into);
  }
  /// Arms all that were posted; later ones are refused.
  void close(WaitingTasks& into) noexcept;

 private:
  /// How many limits are armed, or put into order to be armed, at a time.
  static constexpr unsigned portion = 1024;
  static constexpr unsigned turned_portion = 8192;

  Inbox inbox_;
  bool is_told_ = false;
};

}  // namespace HEIST_NAMESPACE::detail
