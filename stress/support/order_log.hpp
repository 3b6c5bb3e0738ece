// OrderLog: the order in which an agent ran tasks. It is checked against the times of their posts
// and their levels.
#pragma once

#include <cstdint>
#include <heist/priority.hpp>
#include <optional>
#include <vector>

#include "timeline.hpp"

namespace heist::stress {

/// The values that a priority took, in order. One thread at a time changes it.
class PriorityHistory {
 public:
  void restart(TaskPriority initial) {
    changes_.assign(1, {.called = 0, .returned = 0, .value = initial});
  }
  /// Adds a call of set_priority that began at `called` and had returned at `returned`.
  void add(Moment called, Moment returned, TaskPriority value) {
    changes_.push_back({called, returned, value});
  }

  /// The value all through [from, to], or nothing if a change overlaps that time.
  [[nodiscard]] std::optional<TaskPriority> during(Moment from, Moment to) const {
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
      if (change->called >= to) continue;
      return change->returned < from ? std::optional(change->value) : std::nullopt;
    }
    return std::nullopt;
  }

 private:
  struct Change {
    Moment called;
    Moment returned;
    TaskPriority value;
  };
  std::vector<Change> changes_;
};

/// One task, with the times of its post and of the pick that chose it.
struct Posted {
  Moment called = 0;  ///< before its post was called
  Moment done = 0;    ///< after its post had returned
  TaskPriority priority = TaskPriority::user_visible;
  const PriorityHistory* history = nullptr;  ///< its signal's, if that gives the priority
  Moment pick_after = 0;                     ///< the pick began after this …
  Moment started = 0;                        ///< … and ended before this
};

struct OrderVerdict {
  const char* violation = nullptr;  ///< null if there is none
  std::uint64_t level_pairs = 0;    ///< pairs decided by their levels (ORD-3, PRI-3)
  std::uint64_t age_pairs = 0;      ///< pairs of one level decided by their age (ORD-2, PRI-4)
};

/// Looks at every pair of tasks that one agent ran, in the order in which it ran them. A task
/// counts as passed over in a pick only if its post had returned before that pick began.
inline OrderVerdict check_order(const std::vector<const Posted*>& ran) {
  OrderVerdict verdict;
  const auto level = [](const Posted& task, Moment from, Moment to) {
    return task.history != nullptr ? task.history->during(from, to) : task.priority;
  };
  for (std::size_t i = 0; i < ran.size(); ++i) {
    const Posted& chosen = *ran[i];
    const auto chosen_level = level(chosen, chosen.pick_after, chosen.started);
    if (!chosen_level) continue;
    for (std::size_t j = i + 1; j < ran.size(); ++j) {
      const Posted& passed = *ran[j];
      const auto passed_level = level(passed, chosen.pick_after, chosen.started);
      if (!passed_level) continue;
      if (*passed_level == *chosen_level) {
        // Their ages count whatever the picks were, if both were of one level all the time.
        // Otherwise they count only if this task waited when the other one was chosen.
        const bool comparable = (chosen.history == nullptr && passed.history == nullptr) ||
                                passed.done < chosen.pick_after;
        if (comparable && passed.done < chosen.called) {
          verdict.violation = "ORD-2 violated: a younger task of the same level ran first";
        }
        verdict.age_pairs += comparable && chosen.done < passed.called ? 1 : 0;
      } else if (passed.done < chosen.pick_after) {
        if (*passed_level > *chosen_level) {
          verdict.violation = "ORD-3 violated: a task of a lower level was picked";
        }
        ++verdict.level_pairs;
      }
    }
  }
  return verdict;
}

}  // namespace heist::stress
