// Bars: what the figures must reach.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "registry.hpp"
#include "results.hpp"

namespace bench {

/// A row's median is at most `limit`, in its unit; or, with another row named, the median of the
/// ratios to that row is.
struct Bar {
  std::string workload;
  std::string subject;
  std::string other_workload;  ///< empty: the limit is absolute
  std::string other_subject;
  double limit = 0;
};

/// Reads lines of five fields between tabs: workload, subject, the row it is compared with (twice
/// "-": absolute), limit. Lines that begin with # are comments.
///
/// Errors: std::runtime_error with file and line for a line that is malformed or names an unknown
/// row, and when there is none.
[[nodiscard]] std::vector<Bar> read_bars(const std::string& file, const Registry& registry);

/// Prints each bar with what was measured; false when one falls short, as a figure does that is not
/// positive: then something was not measured. Bars whose rows were not measured are not judged,
/// which is said.
bool judge(const std::vector<Bar>& bars, const Results& results, std::ostream& out);

}  // namespace bench
