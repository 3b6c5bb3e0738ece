#include "call_costs.hpp"
#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace simulation {
namespace {

/// The lanes of the rows that differ in their jobs.
constexpr std::size_t few_lanes = 3;

Time of_microseconds(double number) { return time_of(std::max(number, 0.0) * 1e-6); }

}  // namespace

CallCosts::CallCosts(const std::filesystem::path& table) {
  std::ifstream file(table);
  std::string line;
  std::getline(file, line);  // the heading
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string call;
    std::size_t jobs = 0;
    std::size_t lanes = 0;
    double processor = 0;
    if (!(words >> call >> jobs >> lanes >> processor)) {
      throw std::runtime_error(table.string() + ": this is no row of postgresql_costs.py: " + line);
    }
    if (lanes == few_lanes) calls_[call][jobs] = processor;
    if (call == "claim" && jobs == 0) lanes_[lanes] = processor;
  }
  if (calls_.empty() || lanes_.empty()) {
    throw std::runtime_error(table.string() + ": postgresql_costs.py has not written this");
  }
}

double CallCosts::between(const Row& row, std::size_t at) {
  auto high = row.lower_bound(at);
  if (high == row.begin()) return high->second;
  if (high == row.end()) --high;
  if (high == row.begin()) return high->second;
  const auto low = std::prev(high);
  const double slope = (high->second - low->second) / static_cast<double>(high->first - low->first);
  return low->second + slope * static_cast<double>(at - low->first);
}

Time CallCosts::of(const std::string& call, std::size_t jobs) const {
  return of_microseconds(between(calls_.at(call), jobs));
}

Time CallCosts::of_lanes(std::size_t lanes) const {
  return of_microseconds(between(lanes_, lanes) - lanes_.begin()->second);
}

}  // namespace simulation
