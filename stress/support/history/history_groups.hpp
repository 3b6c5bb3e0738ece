// HistoryGroups: the tasks of each signal, whose levels change together and which are aborted
// together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "history_sweep.hpp"

namespace heist::stress {

/// The tasks of one signal, from their first event to their last one. While a change of priority is
/// under way nobody can say where they are.
struct HistoryGroup {
  int level = -1;    ///< of its tasks; -1: not known
  int highest = -1;  ///< at which its tasks may be
  unsigned moves = 0;
  bool is_dead = false;
  std::vector<TrackedTask*> members;

  /// Where this task is to be found; -1: nobody knows.
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

/// Not for several threads.   Cost: O(1) for a task, O(members) for a move. Bound: all groups there
/// have been.
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
    return groups_[number];  // for good: a task of an aborted one may still come
  }

  std::unordered_map<std::uint32_t, HistoryGroup> groups_;
};

}  // namespace heist::stress
