// Registry: all measurements, in the order in which the table shows them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run.hpp"

namespace bench {

/// One workload on one subject, which makes one row for each of its figures.
struct Measurement {
  std::string workload;
  std::string subject;
  std::string unit;
  std::function<void(Run&)> measure;
  /// What is appended to the workload's name, for each figure the measurement reports.
  std::vector<std::string> figures = {""};

  /// "workload subject": what --only is compared with.
  [[nodiscard]] std::string row_name(std::size_t figure) const {
    return workload + figures[figure] + ' ' + subject;
  }
};

class Registry {
 public:
  /// Measurements of one workload are added one after the other.
  void add(Measurement measurement) { all_.push_back(std::move(measurement)); }

  [[nodiscard]] const std::vector<Measurement>& all() const noexcept { return all_; }
  /// Null when there is none.
  [[nodiscard]] const Measurement* find(std::string_view workload, std::string_view subject) const;
  /// Whether such a row, the figure's name included, can be in the table.
  [[nodiscard]] bool has_row(std::string_view workload, std::string_view subject) const;

 private:
  std::vector<Measurement> all_;
};

}  // namespace bench
