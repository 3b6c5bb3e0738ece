// Which time limit of a signal an agent runs before any task (contract DLY-6).
#pragma once

#include "loop_core.hpp"

namespace HEIST_NAMESPACE::detail {

/// Picks a time limit of the loop that has ended. Returns null when there is none, or when it is a
/// task's turn.
inline SchedulerTask* pick_limit(LoopCore& loop) noexcept HEIST_ON_AGENT {
  auto& limits = loop.on_agent().waiting.limits();
  return !limits.empty() && limits.begin_pick(loop.counts().run()) ? &limits.pop() : nullptr;
}

/// Picks a limit of the cluster, if only a part of what was sent to this loop has arrived: a limit
/// of the cluster may be why the rest was left.
inline SchedulerTask* pick_limit_of_cluster(LoopCore& loop) noexcept HEIST_ON_AGENT {
  const bool is_interrupted = loop.has_leftovers() && loop.membership() != nullptr;
  return is_interrupted ? loop.membership()->keep_delays() : nullptr;
}

/// It is a function of its own, as most picks have no limit to look for.
[[gnu::noinline]] inline SchedulerTask* pick_limit_of_any(LoopCore& loop) noexcept HEIST_ON_AGENT {
  if (loop.may_have_limits()) {
    const bool is_first = loop.has_messages() && loop.arrivals().limit_is_first();
    if (SchedulerTask* limit = is_first ? pick_limit(loop) : nullptr) return limit;
  }
  return pick_limit_of_cluster(loop);
}

/// Picks a limit that has ended before all that was sent here has been taken, as it does not wait
/// for that. Returns null when there is none, or when nothing is left to take.
inline SchedulerTask* pick_limit_before_inbox(LoopCore& loop) noexcept HEIST_ON_AGENT {
  if (!loop.may_have_limits() && !loop.has_leftovers()) [[likely]]
    return nullptr;
  return pick_limit_of_any(loop);
}

}  // namespace HEIST_NAMESPACE::detail
