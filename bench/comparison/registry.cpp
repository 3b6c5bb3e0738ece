#include "registry.hpp"

#include <algorithm>

namespace bench {

const Measurement* Registry::find(std::string_view workload, std::string_view subject) const {
  const auto found = std::ranges::find_if(all_, [&](const Measurement& measurement) {
    return measurement.workload == workload && measurement.subject == subject;
  });
  return found == all_.end() ? nullptr : &*found;
}

bool Registry::has_row(std::string_view workload, std::string_view subject) const {
  return std::ranges::any_of(all_, [&](const Measurement& measurement) {
    return measurement.subject == subject &&
           std::ranges::any_of(measurement.figures, [&](const std::string& figure) {
             return measurement.workload + figure == workload;
           });
  });
}

}  // namespace bench
