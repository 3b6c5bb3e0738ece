// RankError: measures CLU-2, how far the starts within a level are from the order of the posts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "history_sweep.hpp"
#include "log_histogram.hpp"
#include "waiting_list.hpp"

namespace heist::stress {

/// Hears the events of a HistorySweep.
///
/// The rank error of a task says how many older ones of its level had not started when it did. A
/// task is older if its post had completed before the other one's post began. What is measured is
/// never more than the true rank error, but for starts in the same nanosecond of a SteadyClock.
///
/// The delay of a task is the time from the end of its post to its start, in units of the history's
/// clock. It is 0 when the task started before its post returned.
///
/// Tasks of a signal, delayed tasks and bound ones are left out.
class RankError {
 public:
  struct OfLevel {
    LogHistogram rank;
    LogHistogram delay;
  };
  /// Who posted a task: a thread outside the cluster, or a task of an agent.
  enum class Origin : std::uint8_t { outside, inside };
  static constexpr std::array origins{Origin::outside, Origin::inside};

  RankError() = default;
  /// Posters with numbers below `first_inside` are threads outside the cluster.
  explicit RankError(std::uint16_t first_inside) : first_inside_(first_inside) {}

  void see(HistoryEvent event, TrackedTask& task, Moment now) {
    if (task.command || task.traits.group != 0 || task.traits.is_hidden) return;
    if (event == HistoryEvent::posted && !task.rank.has_started) {
      task.rank.place = unstarted_[task.record.id.level].add(now, {});
      task.rank.is_waiting = true;
    }
    if (event == HistoryEvent::started) start(task, now);
  }

  [[nodiscard]] const OfLevel& level(std::size_t level, Origin origin = Origin::outside) const {
    return levels_[static_cast<std::size_t>(origin)][level];
  }
  /// The largest rank error of all levels, for a program that asserts a bound.
  [[nodiscard]] std::uint64_t max_rank(Origin origin = Origin::outside) const noexcept {
    std::uint64_t max = 0;
    for (const OfLevel& level : levels_[static_cast<std::size_t>(origin)]) {
      max = std::max(max, level.rank.max());
    }
    return max;
  }
  /// Adds what another history has measured.
  void add(const RankError& other) noexcept {
    for (std::size_t origin = 0; origin < origins.size(); ++origin) {
      for (std::size_t level = 0; level < history_levels; ++level) {
        levels_[origin][level].rank.add(other.levels_[origin][level].rank);
        levels_[origin][level].delay.add(other.levels_[origin][level].delay);
      }
    }
  }

  /// Prints one line for each level and origin that had tasks.
  void print_summary(std::FILE* out, const char* unit) const;
  /// Writes lines of tab-separated fields: `what`, origin, level, measure (rank_error or delay),
  /// unit, a share of the tasks, and the value that only this share exceeds.
  void write_tsv(std::FILE* out, const std::string& what, const char* unit) const;

 private:
  struct Nothing {};

  void start(TrackedTask& task, Moment now) {
    const std::size_t level = task.record.id.level;
    task.rank.has_started = true;
    if (task.rank.is_waiting) unstarted_[level].remove(task.rank.place);
    if (task.record.post_begin == never) return;  // the sweep reports it
    OfLevel& seen = levels_[task.record.id.poster < first_inside_ ? 0 : 1][level];
    seen.rank.add(unstarted_[level].count_before(task.record.post_begin));
    seen.delay.add(task.rank.is_waiting ? now - task.record.post_end : 0);
    task.rank.is_waiting = false;
  }

  std::array<WaitingList<Nothing>, history_levels> unstarted_;
  std::uint16_t first_inside_ = UINT16_MAX;
  std::array<std::array<OfLevel, history_levels>, origins.size()> levels_;
};

inline const char* to_text(RankError::Origin origin) noexcept {
  return origin == RankError::Origin::outside ? "outside" : "inside";
}

inline void print_quantiles(std::FILE* out, const char* what, const char* unit,
                            const LogHistogram& histogram) {
  const auto at = [&](double share) {
    return static_cast<unsigned long long>(histogram.quantile(share));
  };
  std::fprintf(out, "%s in %s: p50 %llu, p99 %llu, p99.9 %llu, max %llu", what, unit, at(0.5),
               at(0.99), at(0.999), static_cast<unsigned long long>(histogram.max()));
}

inline void RankError::print_summary(std::FILE* out, const char* unit) const {
  for (const Origin origin : origins) {
    for (std::size_t at = 0; at < history_levels; ++at) {
      const OfLevel& seen = level(at, origin);
      if (seen.rank.total() == 0) continue;
      std::fprintf(out, "level %zu, %llu tasks from %s: ", at,
                   static_cast<unsigned long long>(seen.rank.total()), to_text(origin));
      print_quantiles(out, "rank error", "tasks", seen.rank);
      print_quantiles(out, "; delay", unit, seen.delay);
      std::fputc('\n', out);
    }
  }
}

inline void write_quantiles(std::FILE* out, const std::string& of, const char* measure,
                            const char* unit, const LogHistogram& histogram) {
  if (histogram.total() == 0) return;
  for (const double above : {0.5, 0.2, 0.1, 0.03, 0.01, 0.003, 0.001, 1e-4, 1e-5, 0.0}) {
    std::fprintf(out, "%s\t%s\t%s\t%g\t%llu\n", of.c_str(), measure, unit, above,
                 static_cast<unsigned long long>(histogram.quantile(1 - above)));
  }
}

inline void RankError::write_tsv(std::FILE* out, const std::string& what, const char* unit) const {
  for (const Origin origin : origins) {
    for (std::size_t at = 0; at < history_levels; ++at) {
      const std::string of = what + "\t" + to_text(origin) + "\t" + std::to_string(at);
      write_quantiles(out, of, "rank_error", "tasks", level(at, origin).rank);
      write_quantiles(out, of, "delay", unit, level(at, origin).delay);
    }
  }
}

}  // namespace heist::stress
