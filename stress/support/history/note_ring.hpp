// NoteRing: notes of one thread on their way to the one that checks them; first in, first out.
//
// Roles   writer: one thread.  reader: one thread.
// Edges   note_ring: fill -> read.   The notes below the writer's count.
//         note_ring: free -> reuse.  The places below the reader's count may be overwritten.
// Bound   `capacity` notes; a full ring refuses.
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

  /// False when the ring is full.   Thread: the writer.
  bool try_push(const Note& note) noexcept {
    if (own_filled_ - seen_free_ == capacity) {
      seen_free_ = freed_.load(sync::edge("note_ring:reuse", sync::acquire));
      if (own_filled_ - seen_free_ == capacity) return false;
    }
    notes_[own_filled_ % capacity] = note;
    filled_.store(++own_filled_, sync::edge("note_ring:fill", sync::release));
    return true;
  }

  /// Hands over everything that is there; returns how much.   Thread: the reader.
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
  std::size_t own_filled_ = 0;  ///< the writer's
  std::size_t seen_free_ = 0;   ///< the writer's
  alignas(line) sync::atomic<std::size_t> freed_{0};
  std::size_t own_freed_ = 0;  ///< the reader's
  alignas(line) std::array<Note, capacity> notes_;
};

}  // namespace heist::stress
