// Reserves: extra agents of a cluster, which take part in the places of members that are blocked.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>

#include "reserve_group.hpp"

namespace HEIST_NAMESPACE::detail {

// The reserves stand in groups of one word each. The place of an agent that blocks is counted in
// one group, and a reserve of that group takes it. A reserve that blocks takes no place meanwhile.
//
// Roles   as ReserveGroup's.
// I1      Places do not say whose they are. So an agent that goes on may leave any group, and a
//         place for which its group lacks a reserve may be moved to another group. There are at
//         least as many places as agents are blocked; while one is moved there is one more.
// I2      A group lacks reserves only if no group has one left, or while somebody is about to move
//         a place. Whoever makes a group lack reserves looks at the others afterwards; whoever
//         makes one have a reserve left looks afterwards for one that lacks them. The later of the
//         two sees the other (the last edge of ReserveGroup).
// I3      Agents enter the first group that has a reserve left, and leave the last one that has a
//         place, so that few threads are started.
// Progress  lock-free.   Cost  a few read-modify-writes; with several groups also a look at each.
// Proof   stress/model/models/cluster_blocking.cpp, tests/cluster/reserves_test.cpp, docs/adr/0046
class Reserves {
 public:
  /// `in_group` is how many stand in a group; models have small ones.   Errors: std::bad_alloc.
  explicit Reserves(unsigned count, unsigned in_group = ReserveGroup::most) : in_group_(in_group) {
    do {
      const unsigned here = std::min(count, in_group);
      groups_.emplace_back(here);
      count -= here;
    } while (count > 0);
  }

  /// Called when a member begins to block; `own` is its rank if it is a reserve. Calls
  /// `wake(rank)` for each reserve that has to be woken.
  template <class Wake>
  void enter(std::optional<unsigned> own, Wake&& wake) noexcept {
    ask_again(wake);
    if (own) {
      wake_one(*own / in_group_, group_of(*own).go_away(*own % in_group_), wake);
    } else if (!try_enter(wake)) {
      wake_one(0, groups_.front().enter(), wake);
    } else {
      return;
    }
    move_places(wake);
  }
  /// Called when the member goes on. A reserve may have to be woken for another one.
  template <class Wake>
  void leave(std::optional<unsigned> own, Wake&& wake) noexcept {
    const auto had_none = [](ReserveGroup& group) { return group.try_leave_without_reserve(); };
    if (own) {
      wake_one(*own / in_group_, group_of(*own).come_back(*own % in_group_), wake);
    } else if (std::any_of(groups_.begin(), groups_.end(), had_none)) {
      return;
    } else {
      leave_any();
    }
    move_places(wake);
  }

  // As those of ReserveGroup.
  [[nodiscard]] bool stand_down(unsigned rank) noexcept {
    return group_of(rank).stand_down(rank % in_group_);
  }
  [[nodiscard]] bool is_present(unsigned rank) const noexcept {
    return group_of(rank).is_present(rank % in_group_);
  }
  /// Whether more reserves of this one's group are present than are needed.
  [[nodiscard]] bool has_surplus(unsigned rank) const noexcept {
    return group_of(rank).has_surplus();
  }
  [[nodiscard]] bool try_park(unsigned rank) noexcept {
    return group_of(rank).try_park(rank % in_group_);
  }
  void end_park(unsigned rank) noexcept { group_of(rank).end_park(rank % in_group_); }
  void withdraw(unsigned rank) noexcept { group_of(rank).withdraw(rank % in_group_); }
  [[nodiscard]] bool is_at_rest(unsigned rank) const noexcept {
    return group_of(rank).is_at_rest(rank % in_group_);
  }

 private:
  [[nodiscard]] ReserveGroup& group_of(unsigned rank) noexcept { return groups_[rank / in_group_]; }
  [[nodiscard]] const ReserveGroup& group_of(unsigned rank) const noexcept {
    return groups_[rank / in_group_];
  }

  template <class Wake>
  void wake_one(unsigned group, std::optional<unsigned> resting, Wake& wake) noexcept {
    if (resting) wake(group * in_group_ + *resting);
  }
  /// With one group, enter() itself asks for one that is missing.
  template <class Wake>
  void ask_again(Wake& wake) noexcept {
    if (groups_.size() == 1) return;
    for (unsigned group = 0; group < groups_.size(); ++group) {
      wake_one(group, groups_[group].ask_again(), wake);
    }
  }
  template <class Wake>
  [[nodiscard]] bool try_enter(Wake& wake) noexcept {
    for (unsigned group = 0; group < groups_.size(); ++group) {
      std::optional<unsigned> resting;
      if (!groups_[group].try_enter(resting)) continue;
      wake_one(group, resting, wake);
      return true;
    }
    return false;
  }
  void leave_any() noexcept {
    const auto try_leave = [](ReserveGroup& group) { return group.try_leave(); };
    // While it searched, a place may have been moved to a group at which it had looked before.
    while (std::none_of(groups_.rbegin(), groups_.rend(), try_leave)) {
    }
  }
  /// Moves places from groups that lack reserves to those that have some left. If somebody else has
  /// taken the place away meanwhile, the new one is given back, and others may have missed it.
  template <class Wake>
  void move_places(Wake& wake) noexcept {
    const auto lacks = [](const ReserveGroup& group) { return group.lacks_reserves(); };
    while (groups_.size() > 1) {
      const auto from = std::find_if(groups_.begin(), groups_.end(), lacks);
      if (from == groups_.end() || !try_enter(wake)) return;
      if (!from->try_leave_without_reserve()) leave_any();
    }
  }

  const unsigned in_group_;
  std::deque<ReserveGroup> groups_;
};

}  // namespace HEIST_NAMESPACE::detail
