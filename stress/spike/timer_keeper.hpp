// TimerKeeper: the delayed stealable tasks of a cluster, looked after by whichever agent is free.
#pragma once

#include <cstdint>
#include <heist/sync.hpp>
#include <optional>
#include <utility>

#include "spike_task.hpp"

namespace heist::spike {

using Tick = std::uint64_t;
inline constexpr Tick never = ~Tick{0};

struct SpikeTimer {
  SpikeTimer* next = nullptr;
  Tick due = never;
  SpikeTask* task = nullptr;
  Level level = 0;
};

// Arming is a push on a list; the wheel (here: a list) belongs to whoever has the keeper's role, which is given back
// before any task is started. While agents sleep one of them is the watcher: it sleeps no longer than the first
// deadline.
//
// Roles   armer: any thread.  keeper: the agent inside poll(), one at a time.  watcher: a sleeping agent, one at a time.
// States  role_: free or taken.  watch_: nobody, or (watcher, when it wakes).  next_due_: the first deadline of what
//         keepers took over, or never.
// I1      Whoever gives the role back looks at the arrivals again: a timer armed meanwhile is not overlooked.
// I2      While agents sleep and a timer is armed: the watcher wakes in time, or an agent is awake that has not started
//         a task, or a wake-up is in flight.
// Why     Whoever made the first deadline earlier (an armer by its push, a keeper by next_due_) reads watch_ then, and
//         wakes the watcher, or somebody if there is none. Who becomes the watcher reads both then.
// D-edge  spike_timer: arm <-> watch; keep <-> watch; arm <-> give_back.
// Progress  lock-free for armers. An agent stopped inside poll() stops the timers, and, if it is a searcher, the
//         wake-ups left to it (models/broken_timers.cpp).
// Proof   stress/spike/models/timers.cpp.
class TimerKeeper {
 public:
  /// Any thread. It has to look for the watcher then.
  void arm(SpikeTimer& timer) noexcept {
    SpikeTimer* old = arrivals_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    do {
      timer.next = old;
    } while (!arrivals_.compare_exchange_weak(old, &timer,
                                              sync::edge("spike_timer:arm", sync::seq_cst),
                                              sync::relaxed));  // relaxed: a failure only retries.
  }
  struct Watch {
    Tick until = never;
    std::optional<unsigned> watcher;
  };
  [[nodiscard]] Watch watch() const noexcept {
    const Word word = watch_.load(sync::edge("spike_timer:watch", sync::seq_cst));
    if (word == 0) return {};
    return {word >> 8, static_cast<unsigned>(word & 255) - 1};
  }

  /// An agent, before each pick: takes over what was armed, and gives `publish` what is due. True: it was the
  /// keeper, and has to look for the watcher.
  template <class Clock, class Publish>
  [[nodiscard]] bool poll(const Clock& clock, Publish&& publish) noexcept {
    bool kept = false;
    while (needs_keeper(clock) &&
           role_.exchange(1, sync::edge("spike_timer:take_role", sync::seq_cst)) == 0) {
      keep(clock.now(), publish);
      kept = true;
      role_.store(0, sync::edge("spike_timer:give_back", sync::seq_cst));
    }
    return kept;
  }
  /// Reads the clock only when something is armed.
  template <class Clock>
  [[nodiscard]] bool needs_keeper(const Clock& clock) const noexcept {
    if (has_arrivals()) return true;
    const Tick due = next_due();
    return due != never && due <= clock.now();
  }
  /// Read after what needs one: the keeper there is looks again when it has given the role back.
  [[nodiscard]] bool has_keeper() const noexcept {
    return role_.load(sync::edge("spike_timer:give_back", sync::seq_cst)) != 0;
  }
  [[nodiscard]] Tick next_due() const noexcept {
    return next_due_.load(sync::edge("spike_timer:keep", sync::seq_cst));
  }
  [[nodiscard]] bool has_arrivals() const noexcept {
    return arrivals_.load(sync::edge("spike_timer:give_back", sync::seq_cst)) != nullptr;
  }

  /// An agent that announced sleep. True: it is the watcher; what follows is a last look, and a sleep until `until`.
  [[nodiscard]] bool try_watch(unsigned agent, Tick until) noexcept {
    Word nobody = 0;
    const Tick kept = until < latest ? until : latest;
    return watch_.compare_exchange_strong(nobody, (kept << 8) | (agent + 1),
                                          sync::edge("spike_timer:watch", sync::seq_cst),
                                          sync::edge("spike_timer:watch", sync::seq_cst));
  }
  void stop_watching() noexcept { watch_.store(0, sync::edge("spike_timer:watch", sync::seq_cst)); }

 private:
  using Word = std::uint64_t;
  /// What fits beside the watcher: it wakes that early for later ones.
  static constexpr Tick latest = never >> 8;

  template <class Publish>
  void keep(Tick now, Publish& publish) noexcept {
    auto* arrived = arrivals_.exchange(nullptr, sync::edge("spike_timer:take", sync::seq_cst));
    while (arrived != nullptr) {
      armed_ = std::exchange(arrived, std::exchange(arrived->next, armed_));
    }
    Tick first = never;
    for (SpikeTimer** at = &armed_; *at != nullptr;) {
      SpikeTimer& timer = **at;
      if (timer.due <= now) {
        *at = timer.next;
        publish(timer);
      } else {
        first = first < timer.due ? first : timer.due;
        at = &timer.next;
      }
    }
    next_due_.store(first, sync::edge("spike_timer:keep", sync::seq_cst));
  }

  alignas(64) sync::atomic<SpikeTimer*> arrivals_{nullptr};
  alignas(64) sync::atomic<Tick> next_due_{never};
  sync::atomic<unsigned> role_{0};
  sync::atomic<Word> watch_{0};  ///< until << 8 | watcher + 1
  SpikeTimer* armed_ = nullptr;  ///< the keeper's
};

}  // namespace heist::spike
