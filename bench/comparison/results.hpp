// Results: the rows of the table, with what each round measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "counting/counters.hpp"
#include "statistics.hpp"

namespace bench {

/// Counters divided by the operations that were counted.
struct CountsPerOperation {
  double shared_updates = 0;
  double remote_lines = 0;
  double system_calls = 0;
  double allocations = 0;
  double nodes = 0;
};

struct Row {
  std::string workload;
  std::string subject;
  std::string unit;
  std::vector<double> rounds;
  std::optional<CountsPerOperation> counts;

  /// raw_…: what the machine allows, nothing that one could use instead.
  [[nodiscard]] bool is_floor() const { return subject.starts_with("raw_"); }
  /// heist, or heist_…: another way to do it with heist.
  [[nodiscard]] bool is_ours() const { return subject == "heist" || subject.starts_with("heist_"); }
  [[nodiscard]] bool is_peer() const { return !is_ours() && !is_floor(); }
};

class Results {
 public:
  /// Null when it was not measured.
  [[nodiscard]] const Row* find(std::string_view workload, std::string_view subject) const;
  /// The peer with the lowest median; null when the workload has none.
  [[nodiscard]] const Row* best_peer(std::string_view workload) const;

  std::vector<Row> rows;
};

}  // namespace bench
