#include "results.hpp"

#include <algorithm>

namespace bench {

const Row* Results::find(std::string_view workload, std::string_view subject) const {
  const auto found = std::ranges::find_if(
      rows, [&](const Row& row) { return row.workload == workload && row.subject == subject; });
  return found == rows.end() ? nullptr : &*found;
}

const Row* Results::best_peer(std::string_view workload) const {
  const Row* best = nullptr;
  for (const Row& row : rows) {
    if (row.workload != workload || !row.is_peer()) continue;
    if (best == nullptr || median(row.rounds) < median(best->rounds)) best = &row;
  }
  return best;
}

}  // namespace bench
