// OrderTeller: what one thread tells a cluster's history, and what it remembers between its notes.
#pragma once

#include <cstdint>
#include <heist/detail/sync.hpp>
#include <optional>

#include "history/history_lane.hpp"
#include "stress_run.hpp"

namespace heist::stress {

using namespace detail;

/// Thread: one, but for posted() and finished().
///
/// Edge stress: finish -> count. What a finished task has posted is counted before the task is.
template <class Clock>
class alignas(64) OrderTeller {
 public:
  OrderTeller(HistoryLane<Clock>& lane, std::uint16_t number, std::uint64_t seed) noexcept
      : random(seed), lane_(lane), number_(number) {}

  /// Returns the id of a task that this thread is about to post at this level.
  [[nodiscard]] TaskId next(std::uint8_t level) noexcept {
    // relaxed, twice: there is one writer, and finished_ publishes it.
    posted_.store(posted_.load(sync::relaxed) + 1, sync::relaxed);
    return {.sequence = next_++, .poster = number_, .level = level};
  }
  [[nodiscard]] HistoryLane<Clock>& lane() noexcept { return lane_; }
  [[nodiscard]] std::uint16_t number() const noexcept { return number_; }

  // What an agent calls.

  /// Called when the agent has not picked anything yet, or has finished what it picked last.
  void picks_next() noexcept { picked_after_ = lane_.before(); }
  void starts(TaskId id, TaskTraits traits) noexcept {
    tell_yield();
    lane_.started(id, picked_after_, traits);
  }
  void ends() noexcept {
    finish_one();
    picks_next();
  }
  /// Called when a callback was destroyed that never ran.
  void drops(TaskId id, TaskTraits traits) noexcept {
    lane_.dropped(id, traits);
    finish_one();
  }
  /// Called when the running task is about to yield. Its continuation counts as posted once this
  /// thread can say so.
  [[nodiscard]] TaskId yields(std::uint8_t level, TaskTraits traits) noexcept {
    const TaskId id = next(level);
    ends();
    yield_ = {id, traits};
    return id;
  }
  /// Tells that the continuation of the last yield was published.
  void tell_yield() noexcept {
    if (yield_) lane_.posted(yield_->id, picked_after_, yield_->traits);
    yield_.reset();
  }

  // What any thread may call.

  [[nodiscard]] std::uint64_t finished() const noexcept {
    return finished_.load(sync::edge("stress:count", sync::acquire));
  }
  [[nodiscard]] std::uint64_t posted() const noexcept {
    return posted_.load(sync::relaxed);  // relaxed: what is finished was counted before.
  }

  Random random;  ///< belongs to the thread

 private:
  struct Yielded {
    TaskId id;
    TaskTraits traits;
  };

  void finish_one() noexcept {
    // relaxed: there is one writer.
    finished_.store(finished_.load(sync::relaxed) + 1, sync::edge("stress:finish", sync::release));
  }

  HistoryLane<Clock>& lane_;
  Moment picked_after_ = 0;
  std::uint32_t next_ = 0;
  std::uint16_t number_;
  std::optional<Yielded> yield_;
  sync::atomic<std::uint64_t> posted_{0};
  sync::atomic<std::uint64_t> finished_{0};
};

}  // namespace heist::stress
