// SourceRotation: decides at which tasks of a level an agent of a cluster looks first, so that none
// of them waits for ever (CLU-2).
#pragma once

#include <array>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// The rotation of one agent at one level. Only picks of this level count, so that what runs in
/// between does not decide whose turn it is.
class SourceRotation {
 public:
  /// Where the tasks stand that are not the agent's own.
  enum class Place : unsigned { bins, shared, rings };
  using Order = std::array<Place, 3>;

  /// Counts a pick. Returns whether it is the turn of other agents' tasks, which come first at one
  /// pick of `every`.
  bool begin_pick(unsigned every) noexcept { return ++picks_ % every == 0; }
  /// Whether it is the turn of bound tasks, when there are stealable tasks of this level, too.
  [[nodiscard]] bool is_bounds_turn() const noexcept { return picks_ % 2 == 0; }

  /// The order in which to look. Tasks from outside and tasks of signals come first by turns. Every
  /// eighth time the rings come first, because their owners may be too busy to come to these tasks.
  [[nodiscard]] Order order() const noexcept {
    switch (first()) {
      case Place::shared:
        return {Place::shared, Place::bins, Place::rings};
      case Place::rings:
        return {Place::rings, Place::bins, Place::shared};
      case Place::bins:
        break;
    }
    return {Place::bins, Place::rings, Place::shared};
  }
  /// Of so many groups the one at whose bins to look first: the agent's own, but every eighth time
  /// a group by turns, the own one included.
  [[nodiscard]] unsigned first_group(unsigned own, unsigned groups) const noexcept {
    return bins_ % 8 == 7 ? bins_ / 8 % groups : own;
  }
  /// Whether this look at others' rings goes round all agents, whatever their groups. It does each
  /// time seven others have found tasks.
  [[nodiscard]] bool goes_round() const noexcept { return rings_ % 8 == 7; }
  /// The agent behind which such a round goes on.
  [[nodiscard]] unsigned round() const noexcept { return round_; }
  void end_round(unsigned at) noexcept { round_ = at; }
  /// The group whose bin a search for late tasks moves first. Each that was moved counts.
  [[nodiscard]] unsigned first_late_group(unsigned groups) const noexcept {
    return late_bins_ % groups;
  }
  void note_late_bin() noexcept { ++late_bins_; }
  /// Notes where a task was found. Tasks of a signal come one by one, so `row` of them are one
  /// turn.
  void found(Place where, unsigned row) noexcept {
    if (where == Place::shared && first() == Place::shared && ++in_row_ < row) return;
    in_row_ = 0;
    ++searches_;
    if (where == Place::bins) ++bins_;
    if (where == Place::rings) ++rings_;
  }

 private:
  [[nodiscard]] Place first() const noexcept {
    if (searches_ % 8 == 7) return Place::rings;
    return searches_ % 2 == 1 ? Place::shared : Place::bins;
  }

  unsigned picks_ = 0;
  unsigned searches_ = 0;
  unsigned bins_ = 0;   ///< how often a bin was found
  unsigned rings_ = 0;  ///< how often a ring was found that had tasks
  unsigned round_ = 0;
  unsigned late_bins_ = 0;
  unsigned in_row_ = 0;
};

}  // namespace HEIST_NAMESPACE::detail
