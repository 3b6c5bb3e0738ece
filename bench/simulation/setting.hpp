// What is simulated: how many servers, databases and jobs, and what fails.
#pragma once

#include <string>
#include "world.hpp"

namespace simulation {

struct Setting {
  std::size_t nodes = 1000;    ///< servers, the same number for each shard
  std::size_t agents = 8;      ///< of each
  std::size_t shards = 16;     ///< databases, each with the clients that fall to it
  std::size_t processors = 8;  ///< of each database
  std::size_t lanes = 300;     ///< of each database: clients, times kinds, times priorities
  double jobs_a_minute = 1e6;
  double load = 0.8;            ///< of all agents; above 1 background jobs pile up
  double minutes = 1;           ///< after a first one, which does not count
  double deaths_a_minute = 0;   ///< of nodes
  double failover_seconds = 0;  ///< for so long one database is away, once
  /// So many servers of a shard look for jobs that another one tells of, by chance; with 0 all of
  /// them do, as heistd's do today.
  double heeding = 0;
  unsigned seed = 1;
};

/// From a claim that was measured on one machine, without a network between.
constexpr Time network = std::chrono::microseconds(500);  ///< there and back
constexpr Time disk = std::chrono::microseconds(500);     ///< until a commit is safe
constexpr Time chunk = std::chrono::milliseconds(1);      ///< of a job, between two yields
constexpr Time heartbeat = std::chrono::milliseconds(1900);
constexpr Time lease = std::chrono::seconds(12);
constexpr Time between_renewals = lease / 4;
constexpr Time between_hints = std::chrono::milliseconds(100);
constexpr Time until_it_is_back = std::chrono::seconds(5);  ///< a node that has died

}  // namespace simulation
