// HistoryLane: what one thread, an agent or a poster, tells a history.
//
// Roles   teller: one thread.  reader: the checker's.
// States  resting (at first, and after rest()): no moment the teller took is still to be noted.
// Edges   lane: rest, wake <-> look.  Either the reader sees the teller awake, or every moment the
//         teller takes from then on is later than the one the reader took before it looked. The
//         reader then waits no longer for a thread that sleeps.
#pragma once

#include <algorithm>
#include <heist/detail/sync.hpp>
#include <thread>

#include "note_ring.hpp"
#include "task_record.hpp"

namespace heist::stress {

using namespace detail;

/// Thread: one, but for drain().   Blocks: a full ring makes its teller wait for the reader.
template <class Clock>
class HistoryLane {
 public:
  explicit HistoryLane(Clock& clock) noexcept : clock_(clock) {}

  /// The moment to take before a post, a pick or a transfer.
  Moment before() noexcept {
    if (rests_) wake();
    return clock_.before();
  }
  /// A post that began after `begin` has returned.
  void posted(TaskId id, Moment begin, TaskTraits traits = {}) noexcept {
    tell(id, begin, Note::Kind::post, traits);
  }
  /// A callback has begun. Its pick began after `pick_begin`, which is no earlier than the begin of
  /// any post or start this lane has noted before.
  void started(TaskId id, Moment pick_begin, TaskTraits traits = {}) noexcept {
    tell(id, pick_begin, Note::Kind::start, traits);
  }
  /// A callback has been destroyed that never began.
  void dropped(TaskId id, TaskTraits traits) noexcept {
    tell(id, clock_.before(), Note::Kind::drop, traits);
  }
  /// A change of a group's priority that began after `begin` has returned; no_priority: its abort.
  /// One at a time.
  void moved(std::uint32_t group, std::uint8_t priority, Moment begin) noexcept {
    tell({.level = priority}, begin, Note::Kind::move, {.group = group});
  }
  /// Everything stealable has been suspended, or resumed. One at a time.
  void suspended(Moment begin) noexcept { tell({}, begin, Note::Kind::suspend); }
  void resumed(Moment begin) noexcept { tell({}, begin, Note::Kind::resume); }
  /// A batch that was taken after `begin`, with this task in it, has been published again.
  void transferred(TaskId id, Moment begin) noexcept { tell(id, begin, Note::Kind::transfer); }

  /// The teller may be away for long (asleep, waiting for others, or for good) and has nothing
  /// begun that it still has to note. What it does next begins with a new before().
  void rest() noexcept {
    rests_ = true;
    is_resting_.store(true, sync::edge("lane:rest", sync::seq_cst));
  }

  /// Hands over all notes. Returns a moment before all that come later, for a `now` that was taken
  /// before this call.   Thread: the reader.
  template <class Sink>
  Moment drain(Moment now, Sink&& sink) {
    const bool is_resting = is_resting_.load(sync::edge("lane:look", sync::seq_cst));
    ring_.take([&](const Note& note) {
      // Others are part of something that began earlier.
      if (note.is_in_order()) floor_ = std::max(floor_, note.begin);
      sink(note);
    });
    if (is_resting) floor_ = std::max(floor_, now);
    return floor_;
  }

 private:
  void wake() noexcept {
    rests_ = false;
    is_resting_.store(false, sync::edge("lane:wake", sync::seq_cst));
  }
  void tell(TaskId id, Moment begin, Note::Kind kind, TaskTraits traits = {}) noexcept {
    const Note note{
        .begin = begin, .end = clock_.after(), .id = id, .traits = traits, .kind = kind};
    while (!ring_.try_push(note)) std::this_thread::yield();
  }

  Clock& clock_;
  bool rests_ = true;  ///< the teller's copy of is_resting_
  Moment floor_ = 0;   ///< the reader's
  sync::atomic<bool> is_resting_{true};
  NoteRing ring_;
};

}  // namespace heist::stress
