// CallCosts: what calls cost a database, as bench/postgresql_costs.py has measured it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include "world.hpp"

namespace simulation {

class CallCosts {
 public:
  /// Errors: std::runtime_error, which says what cannot be read.
  explicit CallCosts(const std::filesystem::path& table);

  /// Processor time of a call for so many jobs, between the two rows that are nearest. A claim goes
  /// through all lanes. Errors: std::out_of_range for a call that was not measured.
  [[nodiscard]] Time of(const std::string& call, std::size_t jobs) const;
  /// What a claim costs more with so many lanes than with few.
  [[nodiscard]] Time of_lanes(std::size_t lanes) const;

 private:
  using Row = std::map<std::size_t, double>;  ///< microseconds, by the number of jobs or of lanes

  static double between(const Row& row, std::size_t at);

  std::map<std::string, Row> calls_;
  Row lanes_;
};

}  // namespace simulation
