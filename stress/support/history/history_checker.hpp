// HistoryChecker: CLU-1, strict priority across the agents of a cluster.
//
// An agent must not start a task X while a task H of a higher level stays unclaimed throughout the
// pick of X, and H's post had completed before that pick began:
//
//   violation:  post_end(H) < pick_begin(X)  and  pick_begin(H) > start(X)  and  level(H) > level(X)
//
// H waits from post_end to pick_begin, interrupted by transfers (a batch in transfer counts as
// claimed by its thief). So at start(X) the sweep asks each level what waits there, and since when.
//
// Sound: a wait is told by an after() at its begin and a before() at its end, a pick by a before() and an
// after() (history_clock.hpp). What the checker takes for a wait is no longer than the true one, what it
// takes for a pick no shorter. A task whose pick never begins waits until the end.
// Tell it of stealable tasks only, whose level stays and that nobody aborts: a bound task would seem
// to wait for every agent, a moved one at its old level, an aborted one for ever.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "history_sweep.hpp"
#include "waiting_list.hpp"

namespace heist::stress {

/// Two tasks that were started in the wrong order.
struct LevelViolation {
  TaskRecord chosen;
  TaskRecord passed;  ///< the oldest one of the highest level that was passed over

  [[nodiscard]] std::string text() const;
};

struct LevelVerdict {
  std::uint64_t tasks = 0;
  /// Of a task that was started, and one of another level that had waited all through its pick: the
  /// levels decide, and `violating_pairs` are those in which they decided wrongly.
  std::uint64_t pairs_compared = 0;
  std::uint64_t violating_pairs = 0;
  /// Of a task that was started, and a higher one that began or ceased to wait during its pick.
  std::uint64_t pairs_excused = 0;
  std::vector<LevelViolation> examples;  ///< the first few
};

/// Hears the events of a HistorySweep.   Cost: O(levels) for an event, and WaitingList::count_before.
class HistoryChecker {
 public:
  static constexpr std::size_t most_examples = 8;

  void see(HistoryEvent event, TrackedTask& task, Moment now) {
    auto& state = task.check;
    switch (event) {
      case HistoryEvent::posted:
        state.is_posted = true;
        break;
      case HistoryEvent::withdrawn:
        ++state.transfers;
        break;
      case HistoryEvent::published:
        --state.transfers;
        break;
      case HistoryEvent::pick_begins:
        state.is_picked = true;
        state.left_above = sum_above(task, left_);
        break;
      case HistoryEvent::started:
        judge(task);
        return;
    }
    const bool waits = state.is_posted && state.transfers == 0 && !state.is_picked;
    if (waits && !state.is_waiting) enter(task, now);
    if (!waits && state.is_waiting) leave(task);
  }

  [[nodiscard]] const LevelVerdict& verdict() const noexcept { return verdict_; }

 private:
  using Counts = std::array<std::uint64_t, history_levels>;

  void enter(TrackedTask& task, Moment now) {
    const std::size_t level = task.record.id.level;
    task.check.place = waiting_[level].add(now, &task);
    task.check.is_waiting = true;
    ++entered_[level];
  }
  void leave(TrackedTask& task) {
    const std::size_t level = task.record.id.level;
    waiting_[level].remove(task.check.place);
    task.check.is_waiting = false;
    ++left_[level];
  }

  void judge(const TrackedTask& task) {
    const Moment pick_begin = task.record.pick_begin;
    const std::size_t own = task.record.id.level;
    std::uint64_t higher = 0;
    for (std::size_t level = own + 1; level < history_levels; ++level) {
      higher += waiting_[level].count_before(pick_begin);
    }
    for (std::size_t level = 0; level < own; ++level) {
      verdict_.pairs_compared += waiting_[level].count_before(pick_begin);
    }
    ++verdict_.tasks;
    verdict_.pairs_compared += higher;
    verdict_.violating_pairs += higher;
    verdict_.pairs_excused += sum_above(task, entered_) - task.check.left_above - higher;
    if (higher != 0) add_example(task);
    complete_examples(task);
  }

  static std::uint64_t sum_above(const TrackedTask& task, const Counts& counts) {
    std::uint64_t sum = 0;
    for (std::size_t level = task.record.id.level + std::size_t{1}; level < history_levels;
         ++level) {
      sum += counts[level];
    }
    return sum;
  }

  void add_example(const TrackedTask& task) {
    if (verdict_.examples.size() == most_examples) return;
    std::size_t level = history_levels - 1;
    while (waiting_[level].count_before(task.record.pick_begin) == 0) --level;
    verdict_.examples.push_back({task.record, waiting_[level].oldest()->record});
  }
  /// How it went on with a task that had been passed over.
  void complete_examples(const TrackedTask& task) {
    for (LevelViolation& example : verdict_.examples) {
      if (example.passed.id == task.record.id) example.passed = task.record;
    }
  }

  std::array<WaitingList<const TrackedTask*>, history_levels> waiting_;
  Counts entered_{};
  Counts left_{};
  LevelVerdict verdict_;
};

inline std::string LevelViolation::text() const {
  return "CLU-1 violated: chosen " + to_text(chosen) + "; passed over " + to_text(passed);
}

}  // namespace heist::stress
