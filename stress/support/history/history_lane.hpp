// HistoryLane: through it one thread, an agent or a poster, tells a history what it does.
//
// Roles   teller: one thread.  reader: the checker's thread.
// States  resting (at first, and after rest()): the teller has taken no moment that it still has to
//         note.
// Edges   lane: rest, wake <-> look.  Either the reader sees the teller awake, or every moment that
//         the teller takes from then on is later than the one that the reader took before it
//         looked. So the reader does not wait for a thread that rests.
#pragma once

#include <algorithm>
#include <heist/detail/sync.hpp>
#include <thread>

#include "note_ring.hpp"
#include "task_record.hpp"

namespace heist::stress {

using namespace detail;

/// Thread: the teller, but for drain().   Blocks: The teller waits for the reader when the ring is
/// full.
template <class Clock>
class HistoryLane {
 public:
  explicit HistoryLane(Clock& clock) noexcept : clock_(clock) {}

  /// Returns the moment at which a post, a pick or a transfer begins. Call it just before.
  Moment before() noexcept {
    if (rests_) wake();
    return clock_.before();
  }
  /// Notes that a post has returned, which began after `begin`.
  void posted(TaskId id, Moment begin, TaskTraits traits = {}) noexcept {
    tell(id, begin, Note::Kind::post, traits);
  }
  /// Notes that a callback has begun. Its pick began after `pick_begin`, which is no earlier than
  /// the begin of any post or start that this lane has noted before.
  void started(TaskId id, Moment pick_begin, TaskTraits traits = {}) noexcept {
    tell(id, pick_begin, Note::Kind::start, traits);
  }
  /// Notes that a callback has been destroyed which had never begun.
  void dropped(TaskId id, TaskTraits traits) noexcept {
    tell(id, clock_.before(), Note::Kind::drop, traits);
  }
  /// Notes that a change of a group's priority has returned, which began after `begin`. With
  /// no_priority it was an abort. A group is changed by one thread at a time.
  void moved(std::uint32_t group, std::uint8_t priority, Moment begin) noexcept {
    tell({.level = priority}, begin, Note::Kind::move, {.group = group});
  }
  /// Notes that everything stealable has been suspended, or resumed. One thread at a time does it.
  void suspended(Moment begin) noexcept { tell({}, begin, Note::Kind::suspend); }
  void resumed(Moment begin) noexcept { tell({}, begin, Note::Kind::resume); }
  /// Notes that a batch with this task in it, which was taken after `begin`, has been published.
  void transferred(TaskId id, Moment begin) noexcept { tell(id, begin, Note::Kind::transfer); }

  /// Says that the teller may be away for long (asleep, waiting for others, or for good), and has
  /// begun nothing that it still has to note. What it does next begins with a new before().
  void rest() noexcept {
    rests_ = true;
    is_resting_.store(true, sync::edge("lane:rest", sync::seq_cst));
  }

  /// Gives all notes to `sink`. Returns a moment before which nothing will be noted any more. `now`
  /// was taken before this call.   Thread: the reader.
  template <class Sink>
  Moment drain(Moment now, Sink&& sink) {
    const bool is_resting = is_resting_.load(sync::edge("lane:look", sync::seq_cst));
    ring_.take([&](const Note& note) {
      // Other notes are a part of something that began earlier, and is noted later.
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
  Moment floor_ = 0;   ///< what drain() returned last; only the reader uses it
  sync::atomic<bool> is_resting_{true};
  NoteRing ring_;
};

}  // namespace heist::stress
