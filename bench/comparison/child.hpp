// One measurement in a process of its own, so that none finds memory, threads or caches that an
// earlier one left.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "registry.hpp"
#include "results.hpp"

namespace bench {

/// What a child says on its standard output, as one line.
struct ChildReport {
  std::vector<double> figures;
  CountsPerOperation counts;
};

/// The child's side: measures and prints the line.
void measure_and_print(const Measurement& measurement, double scale);

/// The parent's side: runs `program --measure workload subject --scale scale`.
///
/// Errors: std::runtime_error that names workload and subject when the child fails, dies, says
/// something else or takes longer than the limit.
[[nodiscard]] ChildReport measure_in_child(const std::string& program,
                                           const Measurement& measurement, double scale,
                                           std::chrono::milliseconds limit);

}  // namespace bench
