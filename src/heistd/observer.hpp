// Observer: what an operator asks for to see inside of the server, made beside the network.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <heist/metrics.hpp>
#include <heistd/block_disposal.hpp>
#include <heistd/prometheus_text.hpp>
#include <heistd/refusal.hpp>
#include <heistd/reply.hpp>
#include <heistd/trace_request.hpp>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace heistd {

/// A reply that is being made.   Thread: the network's.
class Observation {
 public:
  /// Empty until it is made.
  std::optional<Reply> reply;
  /// Called once, when the reply is there; by whoever waits for it.
  std::function<void()> on_made;

  /// Ends a trace before its time; whoever waits gets what it has.
  void end_early() {
    if (!std::exchange(ended_early_, true)) early_end_.set_value();
  }
  /// For the thread that makes it, which takes it once.
  [[nodiscard]] std::future<void> early_end() { return early_end_.get_future(); }

 private:
  std::promise<void> early_end_;
  bool ended_early_ = false;
};

/// Dumps, traces and metrics may take milliseconds to make, and more with many jobs, so each gets a
/// thread. Few are made at a time, which bounds the threads and the memory.
///
/// Thread: the network's.
class Observer {
 public:
  using Network = boost::asio::io_context::executor_type;
  /// What is known of the agents and the disk. Any thread may call these but for the last.
  struct Sources {
    std::function<std::string()> dump;
    std::function<heist::ClusterMetrics()> metrics;
    std::function<std::optional<JobJournal::Disk>()> disk;  ///< of the journal
    /// Empty: there is no TLS.   Thread: the network's.
    std::function<std::optional<std::chrono::sys_seconds>()> certificate_end = [] {
      return std::nullopt;
    };
  };

  /// As many threads run jobs as `agents` says; they also free traces that were sent.
  Observer(Sources sources, std::size_t agents, BlockDisposal disposal, const Network& network)
      : sources_(std::move(sources)),
        agents_(agents),
        disposal_(std::move(disposal)),
        network_(network) {}
  /// Ends a trace that runs.   Blocks: while a reply is made.
  ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  /// What the agents do and what waits, as text.   Errors: 409 "dump_running", std::bad_alloc.
  [[nodiscard]] Result<std::shared_ptr<Observation>> dump();
  /// Figures for Prometheus, these of the clients and of the journal among them.
  ///
  /// Errors: 409 "metrics_running", std::bad_alloc.
  [[nodiscard]] Result<std::shared_ptr<Observation>> metrics(Figures figures);
  /// Records what happens from now on.   Errors: 409 "trace_running", std::bad_alloc.
  [[nodiscard]] Result<std::shared_ptr<Observation>> trace(const TraceRequest& request);
  /// A trace that runs ends now.
  void end_trace();

 private:
  /// One reply that is under way.
  struct Place {
    std::thread thread;
    std::shared_ptr<Observation> observation;
  };

  template <class Make>
  std::shared_ptr<Observation> start(Place& place, Make make);
  static void finish(Place& place, const std::shared_ptr<Observation>& observation,
                     const std::exception_ptr& error, Reply reply);

  const Sources sources_;
  const std::size_t agents_;
  const BlockDisposal disposal_;
  Network network_;
  Place dumping_;
  Place tracing_;
  std::array<Place, 2> measuring_;  ///< Prometheus is often run twice, in case that one fails
};

}  // namespace heistd
