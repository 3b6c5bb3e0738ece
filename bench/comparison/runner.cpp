#include "runner.hpp"

#include <algorithm>
#include <map>
#include <ranges>
#include <span>
#include <vector>

#include "child.hpp"
#include "progress.hpp"

namespace bench {

namespace {

/// A measurement, and where its first row is in the results.
struct Planned {
  const Measurement* measurement;
  std::size_t first_row;
};

class Rounds {
 public:
  Rounds(const Registry& registry, const RunnerOptions& options) : options_(options) {
    for (const auto& measurement : registry.all()) {
      if (wanted(measurement)) plan(measurement);
    }
  }

  Results run() {
    const std::size_t passes = options_.rounds + (options_.counting.empty() ? 0 : 1);
    Progress progress(planned_.size() * passes);
    for (std::size_t round = 0; round < options_.rounds; ++round) run_round(round, progress);
    if (!options_.counting.empty()) count(progress);
    return std::move(results_);
  }

 private:
  [[nodiscard]] bool wanted(const Measurement& measurement) const {
    return std::ranges::any_of(
        std::views::iota(std::size_t{0}, measurement.figures.size()), [&](std::size_t figure) {
          return std::regex_search(measurement.row_name(figure), options_.only);
        });
  }

  void plan(const Measurement& measurement) {
    planned_.push_back({&measurement, results_.rows.size()});
    for (const auto& figure : measurement.figures) {
      results_.rows.push_back(
          {measurement.workload + figure, measurement.subject, measurement.unit, {}, {}});
    }
  }

  /// Workload by workload; which subject begins changes from round to round.
  void run_round(std::size_t round, Progress& progress) {
    auto begin = planned_.begin();
    while (begin != planned_.end()) {
      const auto end = std::find_if(begin, planned_.end(), [&](const Planned& other) {
        return other.measurement->workload != begin->measurement->workload;
      });
      std::vector<Planned> turn(begin, end);
      std::ranges::rotate(turn, turn.begin() + std::ptrdiff_t(round % turn.size()));
      for (const auto& planned : turn) measure(planned, round, progress);
      begin = end;
    }
  }

  void measure(const Planned& planned, std::size_t round, Progress& progress) {
    progress.begin("round " + std::to_string(round + 1) + '/' + std::to_string(options_.rounds) +
                   ", " + planned.measurement->row_name(0));
    const auto report =
        measure_in_child(options_.program, *planned.measurement, options_.scale, options_.limit);
    for (std::size_t figure = 0; figure < report.figures.size(); ++figure) {
      results_.rows[planned.first_row + figure].rounds.push_back(report.figures[figure]);
    }
    progress.end();
  }

  /// What is counted hardly varies, so once is enough.
  void count(Progress& progress) {
    for (const auto& [measurement, first_row] : planned_) {
      progress.begin("counting, " + measurement->row_name(0));
      const auto report =
          measure_in_child(options_.counting, *measurement, options_.scale, options_.limit);
      for (std::size_t figure = 0; figure < report.figures.size(); ++figure) {
        results_.rows[first_row + figure].counts = report.counts;
      }
      progress.end();
    }
  }

  const RunnerOptions& options_;
  std::vector<Planned> planned_;
  Results results_;
};

}  // namespace

Results run_rounds(const Registry& registry, const RunnerOptions& options) {
  return Rounds(registry, options).run();
}

}  // namespace bench
