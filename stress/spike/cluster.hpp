// SpikeCluster: the core of an agent cluster, put together from its parts.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <heist/sync.hpp>
#include <optional>
#include <span>

#include "bin_ring.hpp"
#include "idle_agents.hpp"
#include "shared_queue.hpp"
#include "spike_task.hpp"
#include "stealable_ring.hpp"
#include "timer_keeper.hpp"
#include "urgency_hint.hpp"

namespace heist::spike {

/// Everything that has a size.
struct Sizes {
  unsigned agents = 2;
  unsigned levels = 6;
  unsigned bins = 1U << 14;
  unsigned bin = 32;    ///< K: the most tasks that are in transfer at once
  unsigned ring = 256;  ///< at least a bin
};

/// `Clock`: now() in ticks, deadline(tick) for a sleep, slept_until(tick) after it.
template <Sizes sizes, class Clock>
class SpikeCluster {
  static_assert(sizes.ring >= sizes.bin);
  static_assert(sizes.levels <= 8, "a queue's state has a bit for each");

 public:
  using Queue = SharedQueue<sizes.agents>;

  explicit SpikeCluster(Clock& clock) noexcept : clock_(clock) {}

  // Any thread.

  void post(SpikeTask& task, Level level) noexcept {
    inject(level).post(task);
    published(level);
  }
  void post(SpikeTask& task, Queue& queue) {
    queue.push(task);
    publish(queue, queue.level());
  }
  /// The priority of the queue's signal changes (PRI-3).
  void set_level(Queue& queue, Level level) {
    queue.start_move(level);
    for (auto place = queue.where(); Queue::is_moving(place); place = queue.where()) {
      publish(queue, Queue::level_of(place));
      index_.count_move();
      queue.end_move(place);
    }
  }
  void arm(SpikeTimer& timer) noexcept {
    const Tick due = timer.due;
    timers_.arm(timer);
    notify_watcher(due);
  }
  void stop() noexcept {
    stopped_.store(true, sync::edge("spike_cluster:stop", sync::seq_cst));
    for (unsigned agent = 0; agent < sizes.agents; ++agent) idle_.wake(agent);
  }

  // One of the agents.

  /// A task that runs on `agent` posts another one.
  void post_from(unsigned agent, SpikeTask& task, Level level) noexcept {
    if (!own(agent, level).push(task)) return post(task, level);
    mark(agent, level);
    published(level);
  }
  /// One that only this agent may run: it is no part of the cluster's queues.
  void post_bound(unsigned agent, SpikeTask& task, Level level) noexcept {
    task.next = bound(agent, level);
    bound(agent, level) = &task;
  }
  /// Runs tasks until stop().
  void run(unsigned agent) {
    bool searching = false;
    while (!is_stopped()) {
      if (run_one(agent, searching)) continue;
      sleep(agent, searching);
      searching = true;
    }
  }
  /// Picks a task and starts it. False: there is none.
  bool run_one(unsigned agent, bool& searching) {
    poll_timers();
    SpikeTask* task = pick(agent);
    if (task == nullptr) return false;
    if (std::exchange(searching, false)) end_search(agent);
    if (task->leave_waiting(SpikeTask::Phase::started)) task->run(*task);
    return true;
  }
  /// Takes what is to be started next; null when nothing is runnable (CLU-1).
  [[nodiscard]] SpikeTask* pick(unsigned agent) noexcept {
    for (;;) {
      const Level hint = hint_.level();
      const Level best = best_own(agent);
      // With nothing of its own it searches whatever the hint says: a poster may be about to raise it.
      if (best < 0) return search_above(agent, best);
      if (hint > best) {
        if (SpikeTask* task = search_above(agent, best)) return task;
        const auto announced = hint_.announce(best);
        if (SpikeTask* task = search_above(agent, best)) return task;
        hint_.lower(announced, best);
      }
      if (SpikeTask* task = take_own(agent, best)) return task;
    }
  }

  // Checkers.

  /// All words that say whether `task` is queued at `level`.
  template <class Visit>
  void each_word(Level level, Visit&& visit) {
    inject(level).each_word(visit);
    for (unsigned agent = 0; agent < sizes.agents; ++agent) own(agent, level).each_word(visit);
  }
  [[nodiscard]] bool holds(Level level, const SpikeTask& task) {
    bool found = inject(level).holds(task);
    for (unsigned agent = 0; agent < sizes.agents; ++agent) found |= own(agent, level).holds(task);
    return found;
  }
  [[nodiscard]] UrgencyHint& hint() noexcept { return hint_; }
  [[nodiscard]] SpikeTask* search_above(unsigned agent, Level level) noexcept {
    for (;;) {
      const auto moves = index_.moves();
      if (SpikeTask* task = search_once(agent, level)) return task;
      if (index_.moves() == moves) return nullptr;
    }
  }

 private:
  using Ring = StealableRing<sizes.ring>;
  using Bins = BinRing<sizes.bins, sizes.bin>;
  static constexpr Level top_level = static_cast<Level>(sizes.levels) - 1;

  struct alignas(64) Agent {
    std::array<Ring, sizes.levels> rings;
    // The agent's own.
    std::array<SpikeTask*, sizes.levels> bound{};
    unsigned occupied = 0;  ///< levels whose ring may hold something
    unsigned victim = 0;
  };

  Bins& inject(Level level) noexcept { return inject_[static_cast<std::size_t>(level)]; }
  Ring& own(unsigned agent, Level level) noexcept {
    return agents_[agent].rings[static_cast<std::size_t>(level)];
  }
  SpikeTask*& bound(unsigned agent, Level level) noexcept {
    return agents_[agent].bound[static_cast<std::size_t>(level)];
  }
  void mark(unsigned agent, Level level) noexcept { agents_[agent].occupied |= 1U << level; }

  void published(Level level) noexcept {
    hint_.published(level);
    idle_.notify();
  }
  void publish(Queue& queue, Level level) {
    index_.ensure_ticket(queue, level);
    published(level);
  }

  SpikeTask* search_once(unsigned agent, Level level) noexcept {
    for (Level at = top_level; at > level; --at) {
      if (SpikeTask* task = take_bin(agent, at)) return task;
      if (SpikeTask* task = steal(agent, at, level < 0)) return task;
      if (SpikeTask* task = index_.take(agent, at)) return task;
    }
    return nullptr;
  }
  Level best_own(unsigned agent) noexcept {
    for (Level level = top_level; level >= 0; --level) {
      if (bound(agent, level) != nullptr) return level;
      if ((agents_[agent].occupied & (1U << level)) == 0) continue;
      if (own(agent, level).has_tasks()) return level;
      agents_[agent].occupied &= ~(1U << level);
    }
    return -1;
  }
  SpikeTask* take_own(unsigned agent, Level level) noexcept {
    SpikeTask*& first = bound(agent, level);
    if (first != nullptr) return std::exchange(first, first->next);
    return own(agent, level).claim_one();
  }
  SpikeTask* take_bin(unsigned agent, Level level) noexcept {
    SpikeTask* first = inject(level).take();
    if (first != nullptr) publish_rest(agent, level, first->next);
    return first;
  }
  SpikeTask* steal(unsigned agent, Level level, bool several) noexcept {
    for (unsigned i = 1; i < sizes.agents; ++i) {
      std::array<SpikeTask*, sizes.bin> loot;
      const std::span wanted(loot.data(), several ? loot.size() : 1);
      const auto count = own((agent + i) % sizes.agents, level).claim(wanted);
      if (count == 0) continue;
      for (unsigned at = 0; at < count; ++at)
        loot[at]->next = at + 1 < count ? loot[at + 1] : nullptr;
      publish_rest(agent, level, loot[0]->next);
      return loot[0];
    }
    return nullptr;
  }
  /// What came with a task that is to be started, before it is (CLU-1). The ring of this level is empty; only an
  /// overfull bin holds more than fits, and what is left goes back.
  void publish_rest(unsigned agent, Level level, SpikeTask* oldest) noexcept {
    if (oldest == nullptr) return;
    SpikeTask* left = own(agent, level).push_chain(oldest);
    while (left != nullptr) inject(level).post(*std::exchange(left, left->next));
    mark(agent, level);
    published(level);
  }

  [[nodiscard]] bool has_tasks(unsigned agent) noexcept {
    for (Level level = top_level; level >= 0; --level) {
      if (inject(level).has_tasks() || index_.has_tasks(agent, level)) return true;
      for (unsigned other = 0; other < sizes.agents; ++other) {
        if (own(other, level).has_tasks()) return true;
      }
    }
    return false;
  }

  // Sleeping.

  [[nodiscard]] bool is_stopped() const noexcept {
    return stopped_.load(sync::edge("spike_cluster:stop", sync::seq_cst));
  }
  /// An agent that was woken is about to start a task: if others sleep, and there is more or somebody must watch the
  /// timers, it wakes one.
  void end_search(unsigned agent) noexcept {
    if (idle_.end_search() && (has_tasks(agent) || timers_.has_arrivals())) idle_.notify();
    notify_watcher(timers_.next_due());
  }
  /// There is something to keep, and nobody at it.
  [[nodiscard]] bool wants_keeper() const noexcept {
    return timers_.needs_keeper(clock_) && !timers_.has_keeper();
  }
  /// The agent is a searcher when it is awake again.
  void sleep(unsigned agent, bool searching) noexcept {
    idle_.announce(agent, searching);
    if (is_stopped() || has_tasks(agent) || wants_keeper()) return idle_.stay_awake(agent);
    const Tick until = timers_.next_due();
    // A keeper at work looks for a watcher when it has done.
    if (until == never || timers_.has_keeper() || !timers_.try_watch(agent, until)) {
      idle_.wait(agent, {});
      return;
    }
    watch(agent, until);
    timers_.stop_watching();
  }
  void watch(unsigned agent, Tick until) noexcept {
    if (wants_keeper() || timers_.next_due() < until) return idle_.stay_awake(agent);
    if (!idle_.wait(agent, clock_.deadline(until))) clock_.slept_until(until);
  }

  // Timers.

  void poll_timers() noexcept {
    const bool kept =
        timers_.poll(clock_, [this](SpikeTimer& timer) { post(*timer.task, timer.level); });
    if (kept) notify_watcher(timers_.next_due());
  }
  /// The first deadline may be earlier than it was.
  void notify_watcher(Tick due) noexcept {
    const auto watch = timers_.watch();
    if (due >= watch.until) return;
    if (watch.watcher) return idle_.wake(*watch.watcher);
    idle_.notify();
  }

  Clock& clock_;
  UrgencyHint hint_;
  IdleAgents<sizes.agents> idle_;
  TimerKeeper timers_;
  TicketIndex<sizes.agents, sizes.levels> index_;
  std::array<Bins, sizes.levels> inject_;
  std::array<Agent, sizes.agents> agents_;
  alignas(64) sync::atomic<bool> stopped_{false};
};

}  // namespace heist::spike
