// The runner: rounds through all workloads and subjects in turn, so that drift of the machine hits
// each alike.
#pragma once

#include <chrono>
#include <cstddef>
#include <regex>
#include <string>

#include "registry.hpp"
#include "results.hpp"

namespace bench {

struct RunnerOptions {
  std::string program;   ///< measures, and is started again for each measurement
  std::string counting;  ///< its counting twin; empty when there is none
  std::size_t rounds = 7;
  std::regex only;
  double scale = 1;
  std::chrono::milliseconds limit = std::chrono::seconds(60);
};

/// Progress goes to the standard error output.   Errors: those of measure_in_child.
[[nodiscard]] Results run_rounds(const Registry& registry, const RunnerOptions& options);

}  // namespace bench
