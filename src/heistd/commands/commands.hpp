// Commands: the kinds of jobs that programs do.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <heist/async_semaphore.hpp>
#include <heist/jobs/job.hpp>
#include <heist/jobs/result.hpp>
#include <heist/promise.hpp>
#include <heistd/commands/child_process.hpp>
#include <heistd/commands/command.hpp>
#include <heistd/commands/command_failures.hpp>
#include <heistd/kind_table.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace heistd {

/// Runs programs for jobs: the upload is their input, their output the result. An agent starts a
/// program; then an event loop with a thread of its own watches it, and the job's coroutine waits
/// without an agent. So many run at a time, the most urgent jobs first.
///
/// Thread: that which made it.   Lifetime: longer than that of the agents.
class Commands {
 public:
  explicit Commands(const CommandLimits& limits);
  ~Commands() { end(); }
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  /// Adds the kind of a command.   Errors: std::invalid_argument, as KindTable::add().
  void add_to(KindTable& kinds, const Command& command);

  /// How many descriptors the programs may take that run at a time.
  [[nodiscard]] std::size_t descriptors() const;

  /// Kills the programs that still run, and tells their jobs; no job may start one from here on.
  /// To be called once the agents have closed, while the network that hears of jobs is still there.
  void end();

 private:
  using Failures = std::shared_ptr<CommandFailures>;

  heist::Promise<heist::jobs::Result> run(const std::vector<std::string>& words, Failures failures,
                                          heist::jobs::Job job);
  [[nodiscard]] std::shared_ptr<ChildProcess> start(const std::vector<std::string>& words,
                                                    CommandFailures& failures,
                                                    const heist::jobs::Job& job) const;
  [[nodiscard]] heist::Promise<heist::jobs::Result> watch(std::shared_ptr<ChildProcess> process,
                                                          Failures failures, heist::jobs::Job& job);

  const CommandLimits limits_;
  const heist::AsyncSemaphore turns_;
  std::optional<boost::asio::io_context> io_{std::in_place, 1};
  std::thread thread_;  ///< once there is a command
};

}  // namespace heistd
