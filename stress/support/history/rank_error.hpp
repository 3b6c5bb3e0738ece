// RankError: CLU-2, how far the starts within one level are from the order of the posts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "history_sweep.hpp"
#include "log_histogram.hpp"
#include "waiting_list.hpp"

namespace heist::stress {

/// Hears the events of a HistorySweep.
///
/// Rank error of a task: how many older ones of its level had not started when it did, where older
/// means that their posts had completed before its own began. Never more than the true one, but for
/// starts at the same nanosecond of a SteadyClock. Delay: from the end of its post to its start, in
/// units of the history's clock; 0 when it started before its post returned.
class RankError {
 public:
  struct OfLevel {
    LogHistogram rank;
    LogHistogram delay;
  };

  void see(HistoryEvent event, TrackedTask& task, Moment now) {
    if (event == HistoryEvent::posted && !task.rank.has_started) {
      task.rank.place = unstarted_[task.record.id.level].add(now, {});
      task.rank.is_waiting = true;
    }
    if (event == HistoryEvent::started) start(task, now);
  }

  [[nodiscard]] const OfLevel& level(std::size_t level) const { return levels_[level]; }
  /// The largest of all levels: what a program holds against the bound it states.
  [[nodiscard]] std::uint64_t max_rank() const noexcept {
    std::uint64_t max = 0;
    for (const OfLevel& level : levels_) max = std::max(max, level.rank.max());
    return max;
  }

  /// One line for each level that had tasks.
  void print_summary(std::FILE* out, const char* unit) const;
  /// Tab-separated: level, measure (rank_error, delay), unit, the value, how many had it or less than
  /// it and more than the line before, and the share of all up to here.
  void write_tsv(std::FILE* out, const char* unit) const;

 private:
  struct Nothing {};

  void start(TrackedTask& task, Moment now) {
    const std::size_t level = task.record.id.level;
    task.rank.has_started = true;
    if (task.rank.is_waiting) unstarted_[level].remove(task.rank.place);
    if (task.record.post_begin == never) return;  // the sweep reports it
    levels_[level].rank.add(unstarted_[level].count_before(task.record.post_begin));
    levels_[level].delay.add(task.rank.is_waiting ? now - task.record.post_end : 0);
    task.rank.is_waiting = false;
  }

  std::array<WaitingList<Nothing>, history_levels> unstarted_;
  std::array<OfLevel, history_levels> levels_;
};

inline void print_quantiles(std::FILE* out, const char* what, const char* unit,
                            const LogHistogram& histogram) {
  const auto at = [&](double share) {
    return static_cast<unsigned long long>(histogram.quantile(share));
  };
  std::fprintf(out, "%s in %s: p50 %llu, p99 %llu, p99.9 %llu, max %llu", what, unit, at(0.5),
               at(0.99), at(0.999), static_cast<unsigned long long>(histogram.max()));
}

inline void RankError::print_summary(std::FILE* out, const char* unit) const {
  for (std::size_t level = 0; level < history_levels; ++level) {
    const OfLevel& seen = levels_[level];
    if (seen.rank.total() == 0) continue;
    std::fprintf(out, "level %zu, %llu tasks: ", level,
                 static_cast<unsigned long long>(seen.rank.total()));
    print_quantiles(out, "rank error", "tasks", seen.rank);
    print_quantiles(out, "; delay", unit, seen.delay);
    std::fputc('\n', out);
  }
}

inline void write_lines(std::FILE* out, std::size_t level, const char* measure, const char* unit,
                        const LogHistogram& histogram) {
  std::uint64_t seen = 0;
  histogram.for_each([&](std::uint64_t value, std::uint64_t count) {
    seen += count;
    std::fprintf(out, "%zu\t%s\t%s\t%llu\t%llu\t%.9f\n", level, measure, unit,
                 static_cast<unsigned long long>(value), static_cast<unsigned long long>(count),
                 static_cast<double>(seen) / static_cast<double>(histogram.total()));
  });
}

inline void RankError::write_tsv(std::FILE* out, const char* unit) const {
  std::fputs("level\tmeasure\tunit\tup_to\tcount\tshare\n", out);
  for (std::size_t level = 0; level < history_levels; ++level) {
    write_lines(out, level, "rank_error", "tasks", levels_[level].rank);
    write_lines(out, level, "delay", unit, levels_[level].delay);
  }
}

}  // namespace heist::stress
