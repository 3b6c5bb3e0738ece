// What a history knows of a task, and the notes from which it knows it. Each thread notes its own
// part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../timeline.hpp"

namespace heist::stress {

/// Effective priorities (docs/glossary.md): 0 … 5, the higher one runs first.
inline constexpr std::size_t history_levels = 6;

/// Names a task by the number that its poster gives it, and the level at which it is posted.
struct TaskId {
  std::uint32_t sequence = 0;  ///< unique among its poster's tasks
  std::uint16_t poster = 0;    ///< the poster's lane, or any number that only this poster has
  std::uint8_t level = 0;      ///< below history_levels

  bool operator==(const TaskId&) const = default;
  [[nodiscard]] std::uint64_t key() const noexcept {
    return std::uint64_t{level} << 48 | std::uint64_t{poster} << 32 | sequence;
  }
};

/// What else its poster, and whoever starts it, know of a task.
struct TaskTraits {
  /// A number for its signal, or 0 when it has none. Notes of kind `move` tell of the signal.
  std::uint32_t group = 0;
  /// The task follows its group's priority. Then `TaskId::level` only says whether it is a
  /// continuation (1) or not (0).
  bool is_dynamic = false;
  /// Nobody can be said to have passed the task over. It is bound, or it is delayed, and nobody
  /// tells when its delay expires.
  bool is_hidden = false;
};

/// The moments of one task. `never` stands for what has not been noted. A task may start before its
/// post has returned, so post_end may be any moment after post_begin.
struct TaskRecord {
  Moment post_begin = never;  ///< just before its post was called
  Moment post_end = never;    ///< just after its post had returned
  Moment pick_begin = never;  ///< just before the pick began that chose it
  Moment start = never;       ///< just after its callback had begun
  TaskId id{};
};

/// What a thread notes when it knows both moments. No thread needs another one's part of a record,
/// so recording adds no communication between poster and agent.
struct Note {
  enum class Kind : std::uint8_t {
    post,      ///< from post_begin to post_end
    start,     ///< from pick_begin to start
    transfer,  ///< claimed in a batch after `begin`, published in its thief's ring by `end`
    drop,      ///< destroyed by `end` without a start
    /// The group got the priority id.level, or was aborted (no_priority), between `begin` and
    /// `end`.
    move,
    suspend,  ///< all that is stealable was suspended after `begin`
    resume,   ///< all that is stealable was resumed by `end`
  };
  Moment begin = 0;
  Moment end = 0;
  TaskId id{};
  TaskTraits traits{};
  Kind kind = Kind::post;

  /// Whether the note is of no single task.
  [[nodiscard]] bool is_command() const noexcept { return kind >= Kind::move; }
  /// Whether what the same thread notes later begins no earlier.
  [[nodiscard]] bool is_in_order() const noexcept {
    return kind == Kind::post || kind == Kind::start;
  }
};

/// The priority that stands for an abort: the group's tasks that have not started never will.
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
