// Claimed: what the walk of an abort, or of a change of priority, has claimed in a registry.
#pragma once

#include <heist/detail/scheduler_task.hpp>

namespace HEIST_NAMESPACE {
class Reason;
}

namespace HEIST_NAMESPACE::detail {

class Listener;
struct SourceLink;

/// The links that a walk has claimed. The caller owns a reference to the dependent of each.
struct ClaimedLinks {
  SourceLink* dependents = nullptr;
  SourceLink* aborted_before = nullptr;  ///< dependents that another abort has marked

  /// Takes the first link out of a list; null when there is none.
  [[nodiscard]] static SourceLink* take_first(SourceLink*& list) noexcept;
};

/// What a walk has claimed. Each list has the oldest first, because walks go from the newest.
struct Claimed {
  /// The reason of an abort, which dependents get at once (I3 of SignalCore), or null in the walk
  /// of a priority change.
  const Reason* reason = nullptr;
  SignalLinks* tasks = nullptr;
  Listener* listeners = nullptr;
  ClaimedLinks links{};

  /// Called for each registration that the walk meets: claims it, and puts it into its list.
  void operator()(Registration& registration) noexcept;
};

}  // namespace HEIST_NAMESPACE::detail
