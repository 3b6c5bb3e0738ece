// A history as data. A test makes it up, gives it to the checkers, and judges it pair by pair
// itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../stress/support/history/history_checker.hpp"
#include "../../stress/support/history/history_sweep.hpp"
#include "../../stress/support/history/rank_error.hpp"
#include "../../stress/support/stress_run.hpp"

namespace heist::support {

struct ToldTransfer {
  stress::Moment begin = 0;
  stress::Moment end = 0;
  std::size_t agent = 0;
};

struct ToldTask {
  stress::TaskRecord record;
  std::size_t agent = 0;
  std::vector<ToldTransfer> transfers;
};

/// What the checkers say of a history.
struct Judged {
  stress::LevelVerdict levels;
  stress::RankError ranks;
  stress::ExactlyOnce once;
};

/// The notes of each thread (posters first, then agents), in the order in which it makes them.
inline std::vector<std::vector<stress::Note>> notes_of(const std::vector<ToldTask>& tasks) {
  using Kind = stress::Note::Kind;
  std::vector<std::vector<stress::Note>> threads;
  const auto tell = [&](std::size_t thread, const stress::Note& note) {
    if (threads.size() <= thread) threads.resize(thread + 1);
    threads[thread].push_back(note);
  };
  std::size_t posters = 0;
  for (const auto& task : tasks)
    posters = std::max(posters, task.record.id.poster + std::size_t{1});
  for (const auto& [record, agent, transfers] : tasks) {
    if (record.post_begin != stress::never) {
      tell(record.id.poster, {record.post_begin, record.post_end, record.id, {}, Kind::post});
    }
    for (const auto& transfer : transfers) {
      tell(posters + transfer.agent, {transfer.begin, transfer.end, record.id, {}, Kind::transfer});
    }
    if (record.start == stress::never) continue;
    tell(posters + agent, {record.pick_begin, record.start, record.id, {}, Kind::start});
  }
  for (auto& notes : threads) std::ranges::sort(notes, {}, &stress::Note::end);
  return threads;
}

/// Gives a history to the checkers as lanes do: in portions of random sizes, of threads in random
/// order.
inline Judged judge(const std::vector<ToldTask>& tasks, std::uint64_t seed = 1,
                    stress::TransferRule rule = {}, std::uint16_t first_inside = UINT16_MAX) {
  const auto threads = notes_of(tasks);
  std::vector<std::size_t> told(threads.size());
  std::vector<stress::Moment> floors(threads.size());
  stress::Random random(seed);
  stress::HistorySweep sweep;
  stress::HistoryChecker checker(rule);
  Judged judged{.levels = {}, .ranks = stress::RankError(first_inside), .once = {}};
  const auto visit = [&](stress::HistoryEvent event, stress::TrackedTask& task,
                         stress::Moment now) {
    checker.see(event, task, now);
    judged.ranks.see(event, task, now);
  };
  while (std::ranges::any_of(floors, [](stress::Moment floor) { return floor != stress::never; })) {
    const std::size_t thread = random.below(threads.size());
    for (auto portion = random.below(6); portion > 0; --portion) {
      if (told[thread] == threads[thread].size()) {
        floors[thread] = stress::never;
        break;
      }
      const stress::Note& note = threads[thread][told[thread]++];
      sweep.add(note);
      if (note.is_in_order()) floors[thread] = note.begin;
    }
    sweep.advance(std::ranges::min(floors), visit);
  }
  sweep.finish(visit);
  judged.levels = checker.verdict();
  judged.once = sweep.exactly_once();
  return judged;
}

/// A time in which a task waited. It goes from the end of its post, or of a transfer, to the begin
/// of the next transfer, or of the pick that took it.
struct Wait {
  stress::Moment begin = 0;
  stress::Moment end = 0;
};
inline std::vector<Wait> waits_of(const ToldTask& task) {
  std::vector<Wait> waits;
  stress::Moment since = task.record.post_end;
  for (const auto& transfer : task.transfers) {
    const stress::Moment end = std::min(transfer.begin, task.record.pick_begin);
    if (since < end) waits.push_back({since, end});
    since = std::max(since, transfer.end);
  }
  if (since < task.record.pick_begin) waits.push_back({since, task.record.pick_begin});
  return waits;
}

/// Judges a history by the definitions, pair by pair.
inline Judged judge_all_pairs(const std::vector<ToldTask>& tasks) {
  Judged judged;
  judged.levels.tasks = tasks.size();
  for (const ToldTask& chosen : tasks) {
    const auto& x = chosen.record;
    for (const ToldTask& other : tasks) {
      if (other.record.id.level == x.id.level) continue;
      const bool is_higher = other.record.id.level > x.id.level;
      for (const Wait& wait : waits_of(other)) {
        const bool throughout = wait.begin < x.pick_begin && wait.end > x.start;
        const bool overlaps = wait.begin < x.start && wait.end > x.pick_begin;
        judged.levels.pairs_compared += throughout ? 1 : 0;
        judged.levels.violating_pairs += throughout && is_higher ? 1 : 0;
        judged.levels.pairs_excused += overlaps && !throughout && is_higher ? 1 : 0;
      }
    }
  }
  return judged;
}

inline std::uint64_t rank_error_of(const ToldTask& task, const std::vector<ToldTask>& tasks) {
  return static_cast<std::uint64_t>(std::ranges::count_if(tasks, [&](const ToldTask& other) {
    return other.record.id.level == task.record.id.level &&
           other.record.post_end < task.record.post_begin && other.record.start > task.record.start;
  }));
}

}  // namespace heist::support
