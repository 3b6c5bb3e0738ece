// What Prometheus reads of the server: figures of the runtime and of each client's jobs.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/metrics.hpp>
#include <heistd/client.hpp>
#include <heistd/job_keeper.hpp>
#include <heistd/kind_table.hpp>
#include <heistd/start_delays.hpp>
#include <optional>
#include <string>
#include <vector>

namespace heistd {

/// What became of the jobs of one client and priority since the server's start.
struct JobFigures {
  std::string client;
  heist::TaskPriority priority;
  Depth unfinished;
  std::chrono::nanoseconds longest_wait{};  ///< as of Client::longest_waits()
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t aborted = 0;
  std::uint64_t retried = 0;
  std::uint64_t dead = 0;
  StartDelays::Counts queue_delay;
};

/// What a client is granted, and how often it wanted more.
struct ClientFigures {
  std::string client;
  ClientLimits limits;
  std::uint64_t rate_limited = 0;
  std::uint64_t stored_uploads = 0;  ///< bytes, of its unfinished jobs on the disk of a journal
};

/// How often a program could not do its jobs.
struct CommandFigures {
  std::string kind;
  std::shared_ptr<const CommandFailures> failures;
};

/// What is known of all clients, and beside the agents.
struct Figures {
  std::vector<JobFigures> jobs;  ///< three for each client
  std::vector<ClientFigures> clients;
  std::optional<JournalFailures> journal_failures;  ///< if there is a journal that lasts
  std::optional<JobJournal::Disk> disk;             ///< if it has one of this machine
  std::vector<CommandFigures> commands;
  std::optional<std::chrono::sys_seconds> certificate_end;  ///< with TLS
};

/// All but those of the disk and the certificate.
///
/// Thread: the network's.   Cost: a step for each signal name, a hundred for each client, and that
///         of Client::longest_waits().
[[nodiscard]] Figures figures_of(const ClientTable& clients, const KindTable& kinds,
                                 const JobKeeper* keeper);

/// In Prometheus's text format. Times are in seconds. How many tasks were posted is left out: that
/// number may be a little smaller than it was, which Prometheus takes for a restart.
///
/// Thread: any.   Cost: some hundred lines of text.
[[nodiscard]] std::string prometheus_text(const heist::ClusterMetrics& metrics,
                                          const Figures& figures);

}  // namespace heistd
