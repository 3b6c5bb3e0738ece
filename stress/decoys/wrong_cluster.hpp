// Wrong parts of a cluster, in place of the right ones (included before everything else): the
// stress programs must fail with them. HEIST_FAULT says what is wrong: never_raised     the hint is
// never raised lowered_late     the hint is lowered by an announcement that comes after the last
// search wake_dropped     one wake-up in a hundred is lost timer_unwatched  whoever posts a delayed
// task wakes nobody, and nobody watches
#pragma once

#include <cstdlib>
#include <heist/version.hpp>
#include <optional>
#include <string_view>

// NOLINTBEGIN: the decoys take their names.
#define UrgencyHint RightUrgencyHint
#include "heist/cluster/queues/urgency_hint.hpp"
#undef UrgencyHint
#define IdleAgents RightIdleAgents
#include "heist/cluster/idle_agents.hpp"
#undef IdleAgents
#define TimerKeeper RightKeeper
#include "heist/cluster/timer_keeper.hpp"
#undef TimerKeeper
// NOLINTEND

namespace HEIST_NAMESPACE::detail {

inline bool is_fault(std::string_view name) noexcept {
  static const char* const fault = std::getenv("HEIST_FAULT");
  return fault != nullptr && name == fault;
}

class UrgencyHint : public RightUrgencyHint {
 public:
  void published(int level) noexcept {
    static const bool is_wrong = is_fault("never_raised");
    if (!is_wrong) RightUrgencyHint::published(level);
  }
  [[nodiscard]] Word announce(int target) noexcept {
    return is_late() ? 0 : RightUrgencyHint::announce(target);
  }
  void lower(Word announced, int target) noexcept {
    RightUrgencyHint::lower(is_late() ? RightUrgencyHint::announce(target) : announced, target);
  }

 private:
  static bool is_late() noexcept {
    static const bool is_wrong = is_fault("lowered_late");
    return is_wrong;
  }
};

class IdleAgents : public RightIdleAgents {
 public:
  using RightIdleAgents::RightIdleAgents;
  [[nodiscard]] std::optional<unsigned> notify(unsigned near) noexcept {
    static const bool is_wrong = is_fault("wake_dropped");
    // relaxed: a number.
    if (is_wrong && calls_.fetch_add(1, sync::relaxed) % 100 == 99) return std::nullopt;
    return RightIdleAgents::notify(near);
  }

 private:
  sync::atomic<unsigned> calls_{0};
};

class TimerKeeper : public RightKeeper {
 public:
  [[nodiscard]] bool try_watch(unsigned agent, Due until) noexcept {
    static const bool is_wrong = is_fault("timer_unwatched");
    return !is_wrong && RightKeeper::try_watch(agent, until);
  }
};

}  // namespace HEIST_NAMESPACE::detail
