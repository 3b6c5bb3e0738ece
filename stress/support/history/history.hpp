// History: what the agents of a cluster did and when, told while they do it and checked on the way:
// CLU-1 (HistoryChecker), CLU-2 (RankError), and that every task ran exactly once (HistorySweep).
//
// A program has one lane for each thread that posts or runs tasks, and one thread that checks:
//
//   stress::History<stress::CounterClock> history(posters + agents);
//
//   // A poster, or a task that posts. A post that is refused is not noted.
//   const stress::Moment begin = lane.before();
//   const bool is_posted = scheduler.post([&, id] { run(id); }, options);
//   if (is_posted) lane.posted(id, begin);
//   … lane.rest() before it waits for anything, and at its end.
//
//   // An agent. A pick begins after whatever its agent did last: on_start, or the end of the task
//   before. options.on_start = [&](unsigned) { last_pick = own_lane().before(); };   // last_pick:
//   thread-local void run(TaskId id) { own_lane().started(id, last_pick);  // first thing of the
//   callback … last_pick = own_lane().before();  // last thing } options.on_stop = [&](unsigned) {
//   own_lane().rest(); };
//
//   // The checker: until all is done, then finish() once all others are quiet.
//   while (!done) if (!history.check_some()) std::this_thread::yield();
//   history.finish();
//   history.print(stdout);
//   check(history.verdict().violating_pairs == 0 && history.exactly_once().holds(), "CLU-1 …");
//   check(history.rank_error().max_rank() <= bound, "CLU-2 …");
//
// Bound: a full lane makes its thread wait for the checker, so the notes on their way are bounded.
// What the checker holds grows with the tasks that wait, and while a lane stands still that is not
// at rest. An agent that sleeps stands still: whoever posts sees to it that each agent gets a bound
// task now and then. Batches in transfer need no hook in the runtime: see TransferRule.
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
  /// Lanes below `first_inside` are threads outside, for CLU-2.
  explicit History(std::size_t lanes, TransferRule rule = {},
                   std::uint16_t first_inside = UINT16_MAX)
      : checker_(rule), rank_error_(first_inside) {
    for (std::size_t i = 0; i < lanes; ++i) {
      lanes_.push_back(std::make_unique<HistoryLane<Clock>>(clock_));
    }
  }

  /// Thread: any; what it returns belongs to one.
  HistoryLane<Clock>& lane(std::size_t index) noexcept { return *lanes_[index]; }

  /// Takes what the lanes hold and checks what can be checked; false when they held nothing.
  /// Thread: the checker. Blocks: never.
  bool check_some() {
    const std::size_t before = notes_;
    sweep_.advance(take(), visitor());
    return notes_ != before;
  }

  /// The rest.   Thread: the checker, when no other one notes anything any more.
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
  /// Returns a moment before all notes to come.
  Moment take() {
    // Before any look at a lane; and no later than a before() of theirs that comes after it.
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
