// What Prometheus reads of the server: figures of the runtime and of each client's jobs.
#pragma once

#include <cstdint>
#include <heist/metrics.hpp>
#include <heistd/client.hpp>
#include <string>
#include <vector>

namespace heistd {

/// What became of the jobs of one client and priority since the server's start.
struct JobFigures {
  std::string client;
  heist::TaskPriority priority;
  Depth unfinished;
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t aborted = 0;
  std::uint64_t retried = 0;
};

/// Three for each client.   Thread: the network's.   Cost: a step for each signal name.
[[nodiscard]] std::vector<JobFigures> job_figures(const ClientTable& clients);

/// In Prometheus's text format. Times are in seconds. How many tasks were posted is left out: that
/// number may be a little smaller than it was, which Prometheus takes for a restart.
///
/// Thread: any.   Cost: some hundred lines of text.
[[nodiscard]] std::string prometheus_text(const heist::ClusterMetrics& metrics,
                                          const std::vector<JobFigures>& jobs);

}  // namespace heistd
