// What a history says of a task, and the notes that threads make of it, each of its own part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../timeline.hpp"

namespace heist::stress {

/// Effective priorities (docs/glossary.md): 0 … 5, the higher one runs first.
inline constexpr std::size_t history_levels = 6;

/// Which task: a number its poster gives it, and the level it is posted at.
struct TaskId {
  std::uint32_t sequence = 0;  ///< unique among its poster's tasks
  std::uint16_t poster = 0;    ///< the poster's lane, or any other number it has for itself
  std::uint8_t level = 0;      ///< below history_levels

  bool operator==(const TaskId&) const = default;
  [[nodiscard]] std::uint64_t key() const noexcept {
    return std::uint64_t{level} << 48 | std::uint64_t{poster} << 32 | sequence;
  }
};

/// What else is known of a task, by its poster and by whoever starts it.
struct TaskTraits {
  /// Its signal, if it has one: a number of its own. Its notes are `move`.
  std::uint32_t group = 0;
  /// The group's priority gives the level, of which `TaskId::level` says only whether it is a
  /// continuation's (1).
  bool is_dynamic = false;
  /// Nobody can be said to have passed it over: a bound task, and a delayed one, whose expiry
  /// nobody tells.
  bool is_hidden = false;
};

/// One task; `never` stands for what has not been noted. A task may start before its post has
/// returned, so that post_end is any time after post_begin.
struct TaskRecord {
  Moment post_begin = never;  ///< before its post was called
  Moment post_end = never;    ///< after its post had returned
  Moment pick_begin = never;  ///< before the pick that chose it began
  Moment start = never;       ///< when its callback had begun
  TaskId id{};
};

/// What a thread notes once it knows both moments. No thread needs another one's part of a record,
/// so that recording adds no communication between poster and agent.
struct Note {
  enum class Kind : std::uint8_t {
    post,      ///< [post_begin, post_end]
    start,     ///< [pick_begin, start]
    transfer,  ///< claimed as part of a batch at `begin`; published in its thief's ring by `end`
    drop,      ///< destroyed by `end` without a start
    /// The group got the priority id.level, or was aborted (no_priority), within [begin, end].
    move,
    suspend,  ///< of all that is stealable, after `begin`
    resume,   ///< of the same, by `end`
  };
  Moment begin = 0;
  Moment end = 0;
  TaskId id{};
  TaskTraits traits{};
  Kind kind = Kind::post;

  /// Not of a task.
  [[nodiscard]] bool is_command() const noexcept { return kind >= Kind::move; }
  /// Whether what comes later from the same thread may begin no earlier.
  [[nodiscard]] bool is_in_order() const noexcept {
    return kind == Kind::post || kind == Kind::start;
  }
};

/// As a move's priority: the group's tasks that have not started never will.
inline constexpr std::uint8_t no_priority = 255;

inline std::string to_text(Moment moment) {
  return moment == never ? "never" : std::to_string(moment);
}
inline std::string to_text(TaskId id) {
  return std::to_string(id.poster) + "/" + std::to_string(id.sequence) + " of level " +
         std::to_string(id.level);
}
inline std::string to_text(const TaskRecord& record) {
  return to_text(record.id) + ": post " + to_text(record.post_begin) + ".." +
         to_text(record.post_end) + ", pick begins " + to_text(record.pick_begin) + ", starts " +
         to_text(record.start);
}

}  // namespace heist::stress
