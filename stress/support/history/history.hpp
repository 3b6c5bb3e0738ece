// History: checks what the agents of a cluster do, while they do it. It checks strict priority
// (CLU-1, HistoryChecker), measures how far starts are from the order of the posts (CLU-2,
// RankError), and checks that each task ran exactly once (HistorySweep).
//
// Each thread that posts or runs tasks tells what it does through a lane of its own. One more
// thread checks what the lanes hold. A program does it like this:
//
//   stress::History<stress::CounterClock> history(posters + agents);
//
//   // A thread, or a task, that posts. It does not note a post that is refused. It calls
//   // lane.rest() before it waits for anything, and at its end.
//   const stress::Moment begin = lane.before();
//   const bool is_posted = scheduler.post([&, id] { run(id); }, options);
//   if (is_posted) lane.posted(id, begin);
//
//   // An agent. Its pick begins when it has done what it did last: on_start, or a task.
//   thread_local stress::Moment last_pick;
//   options.on_start = [&](unsigned) { last_pick = own_lane().before(); };
//   void run(TaskId id) {
//     own_lane().started(id, last_pick);  // first of all
//     …
//     last_pick = own_lane().before();  // last of all
//   }
//   options.on_stop = [&](unsigned) { own_lane().rest(); };
//
//   // The checker. It calls finish() when all other threads have noted their last.
//   while (!done) {
//     if (!history.check_some()) std::this_thread::yield();
//   }
//   history.finish();
//   history.print(stdout);
//   check(history.verdict().violating_pairs == 0 && history.exactly_once().holds(), "CLU-1 …");
//   check(history.rank_error().max_rank() <= bound, "CLU-2 …");
//
// Bound: A thread whose lane is full waits for the checker, so the notes on their way are bounded.
// The checker holds the tasks that wait, and while a lane stands still without being at rest, all
// that happens meanwhile. The lane of an agent that sleeps stands still. So whoever posts gives
// each agent a bound task now and then. Nothing in the runtime tells of batches in transfer:
// TransferRule allows for them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <vector>

#include "history_checker.hpp"
#include "history_clock.hpp"
#include "history_lane.hpp"
#include "history_sweep.hpp"
#include "rank_error.hpp"

namespace heist::stress {

template <class Clock>
class History {
 public:
  /// RankError takes posters with numbers below `first_inside` for threads outside the cluster.
  explicit History(std::size_t lanes, TransferRule rule = {},
                   std::uint16_t first_inside = UINT16_MAX)
      : checker_(rule), rank_error_(first_inside) {
    for (std::size_t i = 0; i < lanes; ++i) {
      lanes_.push_back(std::make_unique<HistoryLane<Clock>>(clock_));
    }
  }

  /// Thread: any. Only one thread may use the lane that it returns.
  HistoryLane<Clock>& lane(std::size_t index) noexcept { return *lanes_[index]; }

  /// Takes what the lanes hold, and checks what can be checked by now. Returns false when they held
  /// nothing.
  /// Thread: the checker. Blocks: never.
  bool check_some() {
    const std::size_t before = notes_;
    sweep_.advance(take(), visitor());
    return notes_ != before;
  }

  /// Checks the rest.   Thread: the checker, when no other thread notes anything any more.
  void finish() {
    take();
    sweep_.finish(visitor());
  }

  [[nodiscard]] const LevelVerdict& verdict() const noexcept { return checker_.verdict(); }
  [[nodiscard]] const RankError& rank_error() const noexcept { return rank_error_; }
  [[nodiscard]] const ExactlyOnce& exactly_once() const noexcept { return sweep_.exactly_once(); }

  void print(std::FILE* out) const {
    const LevelVerdict& seen = checker_.verdict();
    const ExactlyOnce& once = sweep_.exactly_once();
    print_counts(out, seen);
    for (const LevelViolation& example : seen.examples) {
      std::fprintf(out, "%s\n", example.text().c_str());
    }
    if (!once.holds()) std::fprintf(out, "%s\n", once.text().c_str());
    rank_error_.print_summary(out, Clock::unit);
  }

 private:
  /// Gives the lanes' notes to the sweep. Returns a moment before which nothing will be noted.
  Moment take() {
    // It is taken before any lane is looked at, and the clock's slack is taken off. So it is no
    // later than the next before() of a thread whose lane is found at rest.
    const Moment now = clock_.before() - Clock::slack;
    Moment floor = now;
    for (const auto& lane : lanes_) {
      floor = std::min(floor, lane->drain(now, [this](const Note& note) {
        sweep_.add(note);
        ++notes_;
      }));
    }
    return floor;
  }

  auto visitor() {
    return [this](HistoryEvent event, TrackedTask& task, Moment now) {
      checker_.see(event, task, now);
      rank_error_.see(event, task, now);
    };
  }

  void print_counts(std::FILE* out, const LevelVerdict& seen) const {
    const auto printable = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
    std::fprintf(out,
                 "tasks %llu, pairs compared %llu, of them violating %llu, excused %llu, widest "
                 "window %llu tasks, clock in %s\n",
                 printable(seen.tasks), printable(seen.pairs_compared),
                 printable(seen.violating_pairs), printable(seen.pairs_excused),
                 printable(sweep_.widest_window()), Clock::unit);
  }

  Clock clock_;
  std::vector<std::unique_ptr<HistoryLane<Clock>>> lanes_;
  HistorySweep sweep_;
  HistoryChecker checker_;
  RankError rank_error_;
  std::size_t notes_ = 0;
};

}  // namespace heist::stress
