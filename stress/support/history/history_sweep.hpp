// HistorySweep: joins the notes of all threads to one record for each task, and tells what they say
// in the order of time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "task_record.hpp"

namespace heist::stress {

/// What happens to a task at one moment. Events of the same moment are told in this order, so that
/// no violation rests on a tie.
enum class HistoryEvent : std::uint8_t {
  pick_begins,
  withdrawn,
  published,
  posted,
  started,
  dropped,
  command_begins,
  command_ends
};

struct HistoryGroup;

/// Counts picks by the level of the task that they start, if that is fixed. The last counts others.
using PickCounts = std::array<std::uint64_t, history_levels + 1>;

/// A task, from its first note to its last event; or a command, which is a note of no task.
struct TrackedTask {
  TaskRecord record;
  TaskTraits traits;
  std::optional<Note::Kind> command;

  /// What HistoryChecker keeps with the task.
  struct {
    std::uint64_t place = 0;
    std::uint64_t left_above = 0;  ///< how many had left the higher levels when its pick began
    PickCounts ended{};            ///< the picks that had ended when its pick began
    HistoryGroup* group = nullptr;
    std::size_t member = 0;       ///< its place among the group's members
    std::uint32_t transfers = 0;  ///< how many transfers it is in
    int waits_at = -1;            ///< the level at which it waits; -1 when it does not
    int top = -1;                 ///< the highest level that it has had since its pick began
    int first_top = -1;           ///< what `top` was when its pick began
    bool is_posted = false;
    bool is_picked = false;
  } check;

  /// What RankError keeps with the task.
  struct {
    std::uint64_t place = 0;
    bool is_waiting = false;
    bool has_started = false;
  } rank;

  // What HistorySweep itself keeps with the task.
  std::uint32_t events_to_come = 0;
  bool has_started = false;
  bool has_dropped = false;
};

/// Counts tasks whose notes do not fit together. A right history has none of them.
struct ExactlyOnce {
  std::uint64_t started = 0;  ///< no fault
  std::uint64_t posted_again = 0;
  std::uint64_t started_again = 0;     ///< the sweep still held the task when the second note came
  std::uint64_t started_unposted = 0;  ///< never posted, or started before and forgotten since
  std::uint64_t never_started = 0;     ///< known only at the end
  std::uint64_t dropped = 0;           ///< no fault
  std::uint64_t started_and_dropped = 0;
  std::uint64_t late_notes = 0;  ///< events before the floor: the lanes are used wrongly
  TaskId example;                ///< the task of the last fault

  [[nodiscard]] bool holds() const noexcept {
    return posted_again + started_again + started_unposted + never_started + started_and_dropped +
               late_notes ==
           0;
  }
  [[nodiscard]] std::string text() const;
};

/// Thread: the checker.
/// Bound: memory for the tasks that have not started, and for the notes that reach beyond the
/// floor.
/// Cost: O(log n) for a note, when it holds n of them.
class HistorySweep {
 public:
  void add(const Note& note) {
    TrackedTask& task = note.is_command() ? make_command(note) : track(note);
    switch (note.kind) {
      case Note::Kind::post:
        add_post(task, note);
        break;
      case Note::Kind::start:
        add_start(task, note);
        break;
      case Note::Kind::transfer:
        await(note.begin, HistoryEvent::withdrawn, task);
        await(note.end, HistoryEvent::published, task);
        break;
      case Note::Kind::drop:
        await(note.end, HistoryEvent::dropped, task);
        break;
      case Note::Kind::move:
      case Note::Kind::suspend:
      case Note::Kind::resume:
        await(note.begin, HistoryEvent::command_begins, task);
        await(note.end, HistoryEvent::command_ends, task);
        break;
    }
  }

  /// Calls `visit(HistoryEvent, TrackedTask&, Moment)` for everything before `floor`, in order. No
  /// note that comes later may have a moment before `floor`. When a task starts its record is
  /// complete, because its post began before.
  template <class Visit>
  void advance(Moment floor, Visit&& visit) {
    while (!coming_.empty() && coming_.top().at < floor) {
      const Coming next = coming_.top();
      coming_.pop();
      visit(next.event, *next.task, next.at);
      happened(next);
    }
    if (floor > reached_) reached_ = floor;
  }

  /// Visits the rest when all notes are in, and counts the tasks that never started.
  template <class Visit>
  void finish(Visit&& visit) {
    advance(never, visit);
    for (const auto& [key, task] : tracked_) fault(once_.never_started, *task);
  }

  [[nodiscard]] const ExactlyOnce& exactly_once() const noexcept { return once_; }
  /// The most tasks that it ever held at once.
  [[nodiscard]] std::size_t widest_window() const noexcept { return tasks_.size(); }

 private:
  struct Coming {
    Moment at;
    TrackedTask* task;
    HistoryEvent event;
    bool operator>(const Coming& other) const noexcept {
      return at != other.at ? at > other.at : event > other.event;
    }
  };

  TrackedTask& track(const Note& note) {
    TrackedTask*& task = tracked_[note.id.key()];
    if (task == nullptr) task = &make_task(note);
    return *task;
  }
  TrackedTask& make_command(const Note& note) {
    TrackedTask& command = make_task(note);
    command.command = note.kind;
    return command;
  }
  TrackedTask& make_task(const Note& note) {
    if (free_.empty()) free_.push_back(&tasks_.emplace_back());
    TrackedTask& task = *free_.back();
    free_.pop_back();
    task = {};
    task.record.id = note.id;
    task.traits = note.traits;
    return task;
  }

  void add_post(TrackedTask& task, const Note& note) {
    if (task.record.post_begin != never) return fault(once_.posted_again, task);
    task.record.post_begin = note.begin;
    task.record.post_end = note.end;
    await(note.end, HistoryEvent::posted, task);
  }
  void add_start(TrackedTask& task, const Note& note) {
    if (task.record.start != never) return fault(once_.started_again, task);
    task.record.pick_begin = note.begin;
    task.record.start = note.end;
    await(note.begin, HistoryEvent::pick_begins, task);
    await(note.end, HistoryEvent::started, task);
  }
  void await(Moment at, HistoryEvent event, TrackedTask& task) {
    if (at < reached_) fault(once_.late_notes, task);
    ++task.events_to_come;
    coming_.push({at, &task, event});
  }

  void happened(const Coming& what) {
    TrackedTask& task = *what.task;
    --task.events_to_come;
    if (what.event == HistoryEvent::started) {
      task.has_started = true;
      ++once_.started;
      if (task.record.post_begin == never) fault(once_.started_unposted, task);
    }
    if (what.event == HistoryEvent::dropped) {
      task.has_dropped = true;
      ++once_.dropped;
    }
    if (task.has_started && task.has_dropped) fault(once_.started_and_dropped, task);
    if (!is_done_with(task)) return;
    if (!task.command) tracked_.erase(task.record.id.key());
    free_.push_back(&task);
  }
  static bool is_done_with(const TrackedTask& task) noexcept {
    if (task.events_to_come != 0) return false;
    const bool is_posted = task.record.post_begin != never;
    return task.command || task.has_started || (task.has_dropped && is_posted);
  }
  void fault(std::uint64_t& count, const TrackedTask& task) {
    ++count;
    once_.example = task.record.id;
  }

  std::deque<TrackedTask> tasks_;
  std::vector<TrackedTask*> free_;
  std::unordered_map<std::uint64_t, TrackedTask*> tracked_;
  std::priority_queue<Coming, std::vector<Coming>, std::greater<>> coming_;
  Moment reached_ = 0;
  ExactlyOnce once_;
};

inline std::string ExactlyOnce::text() const {
  return "not exactly once: posted again " + std::to_string(posted_again) + ", started again " +
         std::to_string(started_again) + ", started but not posted (or again) " +
         std::to_string(started_unposted) + ", never started " + std::to_string(never_started) +
         ", started and dropped " + std::to_string(started_and_dropped) + ", late notes " +
         std::to_string(late_notes) + "; the last one is task " + to_text(example);
}

}  // namespace heist::stress
