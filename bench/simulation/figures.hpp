// Figures: what is seen in a simulation.
#pragma once

#include <array>
#include <cstdint>
#include <vector>
#include "job.hpp"

namespace simulation {

struct Figures {
  std::array<std::vector<double>, levels> start_delays;  ///< seconds, from acceptance on
  std::vector<double> accept_times;                      ///< seconds, until the queue has a job
  std::uint64_t ended = 0;
  std::uint64_t run_again = 0;  ///< attempts that a death or a failover has cost
  std::uint64_t refused = 0;    ///< as the database was away
  std::uint64_t calls = 0;
  std::uint64_t claims = 0;
  std::uint64_t empty_claims = 0;
  Time processors = {};     ///< of all databases
  Time longest_queue = {};  ///< that a call waited for a processor
};

}  // namespace simulation
