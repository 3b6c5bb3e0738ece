// HistoryChecker: checks CLU-1, strict priority across the agents of a cluster.
//
// An agent must not start a task X while a task H of a higher level stays unclaimed throughout the
// pick of X, if the post of H had completed before that pick began. This is a violation:
//
//   post_end(H) < pick_begin(X)  and  pick_begin(H) > start(X)  and  level(H) > level(X)
//
// H waits from post_end to pick_begin, but not while it is in transfer: a batch in transfer counts
// as claimed by its thief. So when X starts, the checker asks each level what has waited there
// since before the pick of X began.
//
// Sound: A wait is told by an after() at its begin and a before() at its end, a pick by a before()
// and an after() (history_clock.hpp). So the checker takes no wait for longer than it was, and no
// pick for shorter. A task whose pick never begins waits until the end.
//
// A task that follows its signal's priority waits at the new level when a change has returned.
// While a change is under way it does not wait. If it is chosen, its level is the highest that it
// had during its pick. When an abort begins, no task of its signal waits any longer. A bound task
// never waits, and is judged when it is chosen. So is a delayed one, because nobody tells when its
// delay expires.
//
// Not every transfer is told. TransferRule says how many tasks of its level each pick may have in
// transfer for as long as it lasts. As many that seem to be passed over are excused. What is picked
// during a suspension is not judged. Where agents put suspended tasks aside, only picks are judged
// that no other one overlaps.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "history_groups.hpp"
#include "history_sweep.hpp"
#include "waiting_list.hpp"

namespace heist::stress {

/// Two tasks that were started in the wrong order.
struct LevelViolation {
  TaskRecord chosen;
  /// The oldest task of the highest level at which one waited all through the pick.
  TaskRecord passed;
  std::size_t level = 0;  ///< the level at which it waited

  [[nodiscard]] std::string text() const;
};

struct LevelVerdict {
  std::uint64_t tasks = 0;
  /// Pairs of a task that was started, and one of another level that waited all through its pick.
  /// In `violating_pairs` of them the level of the second was higher.
  std::uint64_t pairs_compared = 0;
  std::uint64_t violating_pairs = 0;
  /// Pairs of a task that was started, and a higher one that waited only for a part of its pick.
  std::uint64_t pairs_excused = 0;
  /// Pairs of a task that was started, and a higher one that TransferRule excuses.
  std::uint64_t pairs_in_transfer = 0;
  std::uint64_t dropped_unaborted = 0;  ///< dropped tasks that nobody had aborted: a fault
  std::uint64_t moves = 0;
  std::vector<LevelViolation> examples;  ///< the first few

  [[nodiscard]] bool holds() const noexcept { return violating_pairs + dropped_unaborted == 0; }
  void add(const LevelVerdict& other);
};

/// What may be in transfer without a note.
struct TransferRule {
  /// How many tasks a pick may hold, of the level of the task that it starts, and of fixed levels.
  std::uint64_t most = 0;
  /// A pick may hold any tasks, and then start one of another level. An agent puts aside what it
  /// picks of a suspended scheduler, and publishes all of it when it sees that it need not have.
  bool holds_anything = false;
};

/// Hears the events of a HistorySweep.
/// Cost: O(levels) for an event, and WaitingList::count_before.
class HistoryChecker {
 public:
  static constexpr std::size_t most_examples = 8;

  HistoryChecker() = default;
  explicit HistoryChecker(TransferRule rule) : rule_(rule) {}

  void see(HistoryEvent event, TrackedTask& task, Moment now) {
    if (task.command) return see_command(event, task, now);
    if (!task.has_started && !task.has_dropped) groups_.join(task);
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
        begin_pick(task);
        break;
      case HistoryEvent::started:
        judge(task);
        groups_.leave(task);
        return;
      case HistoryEvent::dropped:
        state.is_picked = true;
        if (state.group == nullptr || !state.group->is_dead) ++verdict_.dropped_unaborted;
        break;
      default:
        break;
    }
    place(task, now);
    if (event == HistoryEvent::dropped) groups_.leave(task);
  }

  [[nodiscard]] const LevelVerdict& verdict() const noexcept { return verdict_; }

 private:
  using Counts = std::array<std::uint64_t, history_levels>;
  using Waiting = std::array<WaitingList<const TrackedTask*>, history_levels>;

  void see_command(HistoryEvent event, const TrackedTask& command, Moment now) {
    const auto changed = [this, now](TrackedTask& task) {
      if (task.check.is_picked) raise_top(task);
      place(task, now);
    };
    const bool begins = event == HistoryEvent::command_begins;
    switch (*command.command) {
      case Note::Kind::move:
        verdict_.moves += begins ? 0 : 1;
        begins ? groups_.begin_move(command, changed) : groups_.end_move(command, changed);
        break;
      case Note::Kind::suspend:
        if (begins) is_suspended_ = true;
        break;
      default:
        if (begins) break;
        is_suspended_ = false;
        resumed_at_ = now;
    }
  }

  static bool is_fixed(const TrackedTask& task) noexcept { return !task.traits.is_dynamic; }
  /// Where a task's pick is counted: at its level if that is fixed, else in the last place.
  static std::size_t pick_class(const TrackedTask& task) noexcept {
    return is_fixed(task) ? task.record.id.level : history_levels;
  }
  Waiting& waiting_of(const TrackedTask& task) noexcept {
    return is_fixed(task) ? fixed_ : dynamic_;
  }

  /// Moves a task to the list in which it waits by now, or to none when it does not wait.
  void place(TrackedTask& task, Moment now) {
    auto& state = task.check;
    const bool waits =
        state.is_posted && state.transfers == 0 && !state.is_picked && !task.traits.is_hidden;
    const int level = !waits                   ? -1
                      : state.group == nullptr ? task.record.id.level
                                               : state.group->level_of(task);
    if (level == state.waits_at) return;
    if (state.waits_at >= 0) {
      const auto old = static_cast<std::size_t>(state.waits_at);
      waiting_of(task)[old].remove(state.place);
      ++left_[old];
    }
    state.waits_at = level;
    if (level < 0) return;
    state.place = waiting_of(task)[static_cast<std::size_t>(level)].add(now, &task);
    ++entered_[static_cast<std::size_t>(level)];
  }

  static void raise_top(TrackedTask& task) {
    const auto& state = task.check;
    const int now = state.group == nullptr ? task.record.id.level : state.group->highest_of(task);
    task.check.top = std::max(state.top, now);
  }
  void begin_pick(TrackedTask& task) {
    auto& state = task.check;
    state.is_picked = true;
    raise_top(task);
    state.first_top = state.top;
    state.left_above = sum_above(state.top, left_);
    state.ended = ended_;
    ++begun_[pick_class(task)];
  }

  void judge(TrackedTask& task) {
    ++verdict_.tasks;
    ++ended_[pick_class(task)];
    const Moment pick_begin = task.record.pick_begin;
    const bool was_suspended = is_suspended_ || pick_begin <= resumed_at_;
    if (was_suspended || task.check.top < 0) return;
    const auto own = static_cast<std::size_t>(task.check.top);
    std::uint64_t higher = 0;
    std::uint64_t passed = 0;
    for (std::size_t level = own + 1; level < history_levels; ++level) {
      const std::uint64_t fixed = fixed_[level].count_before(pick_begin);
      const std::uint64_t dynamic = dynamic_[level].count_before(pick_begin);
      higher += fixed + dynamic;
      if (fixed + dynamic != 0) passed += passed_over(task, level, fixed, dynamic);
    }
    for (std::size_t level = 0; level < own; ++level) {
      verdict_.pairs_compared +=
          fixed_[level].count_before(pick_begin) + dynamic_[level].count_before(pick_begin);
    }
    verdict_.pairs_compared += passed;
    verdict_.violating_pairs += passed;
    verdict_.pairs_in_transfer += higher - passed;
    if (task.check.top == task.check.first_top) {
      verdict_.pairs_excused +=
          sum_above(task.check.top, entered_) - task.check.left_above - higher;
    }
    if (passed != 0) add_example(task, own);
    complete_examples(task);
  }

  /// How many tasks of a level were passed over: of those that waited all through the pick, all but
  /// those that may have been in transfer meanwhile.
  [[nodiscard]] std::uint64_t passed_over(const TrackedTask& task, std::size_t level,
                                          std::uint64_t fixed, std::uint64_t dynamic) const {
    if (rule_.holds_anything && overlaps(task)) return 0;
    const std::uint64_t picks = begun_[level] - task.check.ended[level];
    return fixed - std::min(fixed, rule_.most * picks) + dynamic;
  }
  /// Whether another pick overlaps the task's own.
  [[nodiscard]] bool overlaps(const TrackedTask& task) const {
    std::uint64_t picks = 0;
    for (std::size_t at = 0; at < begun_.size(); ++at) picks += begun_[at] - task.check.ended[at];
    return picks > 1;
  }

  static std::uint64_t sum_above(int above, const Counts& counts) {
    std::uint64_t sum = 0;
    for (auto level = static_cast<std::size_t>(above + 1); level < history_levels; ++level) {
      sum += counts[level];
    }
    return sum;
  }

  void add_example(const TrackedTask& task, std::size_t own) {
    if (verdict_.examples.size() == most_examples) return;
    for (std::size_t level = history_levels - 1; level > own; --level) {
      for (const Waiting* waiting : {&dynamic_, &fixed_}) {
        if ((*waiting)[level].count_before(task.record.pick_begin) == 0) continue;
        verdict_.examples.push_back({task.record, (*waiting)[level].oldest()->record, level});
        return;
      }
    }
  }
  /// A task that was passed over has started: its examples get the rest of its record.
  void complete_examples(const TrackedTask& task) {
    for (LevelViolation& example : verdict_.examples) {
      if (example.passed.id == task.record.id) example.passed = task.record;
    }
  }

  TransferRule rule_;
  HistoryGroups groups_;
  Waiting fixed_;
  Waiting dynamic_;
  Counts entered_{};
  Counts left_{};
  PickCounts begun_{};
  PickCounts ended_{};
  bool is_suspended_ = false;
  Moment resumed_at_ = 0;
  LevelVerdict verdict_;
};

inline std::string LevelViolation::text() const {
  return "CLU-1 violated: chosen " + to_text(chosen) + "; passed over " + to_text(passed) +
         ", waited at level " + std::to_string(level);
}

inline void LevelVerdict::add(const LevelVerdict& other) {
  tasks += other.tasks;
  pairs_compared += other.pairs_compared;
  violating_pairs += other.violating_pairs;
  pairs_excused += other.pairs_excused;
  pairs_in_transfer += other.pairs_in_transfer;
  dropped_unaborted += other.dropped_unaborted;
  moves += other.moves;
}

}  // namespace heist::stress
