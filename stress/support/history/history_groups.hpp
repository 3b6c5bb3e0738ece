// HistoryGroups: the tasks of each signal. Their levels change together, and they are aborted
// together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "history_sweep.hpp"

namespace heist::stress {

/// The tasks of one signal, each from its first event until it starts or is dropped. While a change
/// of priority is under way nobody can say at which level they are. A continuation is one level
/// above what `level` and `highest` say.
struct HistoryGroup {
  int level = -1;    ///< where the last change has put the tasks; -1 before the first one
  int highest = -1;  ///< the highest level at which the tasks may be
  unsigned moves = 0;
  bool is_dead = false;
  std::vector<TrackedTask*> members;

  /// The level at which the task waits. It is -1 while nobody knows it, and after an abort.
  [[nodiscard]] int level_of(const TrackedTask& task) const noexcept {
    if (is_dead) return -1;
    if (!task.traits.is_dynamic) return task.record.id.level;
    return moves != 0 || level < 0 ? -1 : level + task.record.id.level;
  }
  [[nodiscard]] int highest_of(const TrackedTask& task) const noexcept {
    if (!task.traits.is_dynamic) return task.record.id.level;
    return highest < 0 ? -1 : highest + task.record.id.level;
  }
};

/// Thread: the checker.   Cost: O(1) for a task, O(members) for a move.
/// Bound: It keeps all groups that there have been.
class HistoryGroups {
 public:
  void join(TrackedTask& task) {
    if (task.traits.group == 0 || task.check.group != nullptr) return;
    HistoryGroup& group = find(task.traits.group);
    task.check.group = &group;
    task.check.member = group.members.size();
    group.members.push_back(&task);
  }
  void leave(TrackedTask& task) {
    HistoryGroup* group = task.check.group;
    if (group == nullptr) return;
    TrackedTask* last = group->members.back();
    group->members[task.check.member] = last;
    last->check.member = task.check.member;
    group->members.pop_back();
    task.check.group = nullptr;
  }

  /// Calls `changed(task)` for each task whose place may have changed.
  template <class Changed>
  void begin_move(const TrackedTask& command, Changed&& changed) {
    HistoryGroup& group = find(command.traits.group);
    const int to = target(command);
    if (to < 0) {
      group.is_dead = true;
    } else {
      ++group.moves;
      group.highest = std::max(group.highest, to);
    }
    for (TrackedTask* task : group.members) changed(*task);
  }
  template <class Changed>
  void end_move(const TrackedTask& command, Changed&& changed) {
    const int to = target(command);
    if (to < 0) return;
    HistoryGroup& group = find(command.traits.group);
    group.level = to;
    if (--group.moves != 0) return;
    group.highest = to;
    for (TrackedTask* task : group.members) changed(*task);
  }

 private:
  static int target(const TrackedTask& command) noexcept {
    return command.record.id.level == no_priority ? -1 : 2 * command.record.id.level;
  }
  HistoryGroup& find(std::uint32_t number) {
    return groups_[number];  // It stays for good: a task of an aborted group may still come.
  }

  std::unordered_map<std::uint32_t, HistoryGroup> groups_;
};

}  // namespace heist::stress
