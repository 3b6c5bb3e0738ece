// NoteRing: the notes of one thread on their way to the one that checks them, oldest first.
//
// Roles   writer: one thread.  reader: one thread.
// Edges   note_ring: fill -> read.   Carries the notes below the writer's count.
//         note_ring: free -> reuse.  Lets the writer overwrite what the reader has read.
// Bound   `capacity` notes. A full ring refuses more.
#pragma once

#include <array>
#include <cstddef>
#include <heist/detail/sync.hpp>

#include "task_record.hpp"

namespace heist::stress {

using namespace detail;

class NoteRing {
 public:
  static constexpr std::size_t capacity = 1U << 12U;

  /// Returns false when the ring is full.   Thread: the writer.
  bool try_push(const Note& note) noexcept {
    if (own_filled_ - seen_free_ == capacity) {
      seen_free_ = freed_.load(sync::edge("note_ring:reuse", sync::acquire));
      if (own_filled_ - seen_free_ == capacity) return false;
    }
    notes_[own_filled_ % capacity] = note;
    filled_.store(++own_filled_, sync::edge("note_ring:fill", sync::release));
    return true;
  }

  /// Gives all notes to `sink`, and returns how many there were.   Thread: the reader.
  template <class Sink>
  std::size_t take(Sink&& sink) {
    const std::size_t end = filled_.load(sync::edge("note_ring:read", sync::acquire));
    const std::size_t begin = own_freed_;
    for (; own_freed_ != end; ++own_freed_) sink(notes_[own_freed_ % capacity]);
    freed_.store(end, sync::edge("note_ring:free", sync::release));
    return end - begin;
  }

 private:
  static constexpr std::size_t line = 64;

  alignas(line) sync::atomic<std::size_t> filled_{0};
  std::size_t own_filled_ = 0;  ///< the writer's copy of filled_
  std::size_t seen_free_ = 0;   ///< what the writer last read of freed_
  alignas(line) sync::atomic<std::size_t> freed_{0};
  std::size_t own_freed_ = 0;  ///< the reader's copy of freed_
  alignas(line) std::array<Note, capacity> notes_;
};

}  // namespace heist::stress
