// Closer: closes the cluster of agents, which takes a while, beside the network.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <heist/agent_cluster.hpp>
#include <heist/promise.hpp>
#include <heistd/job_run.hpp>
#include <optional>
#include <semaphore>
#include <thread>

namespace heistd {

/// Its thread waits from the start on, and so does the handler that hears from it: when the time to
/// end has come, no thread or memory is needed that the system might not have.
class Closer {
 public:
  using Closed = std::function<void(const heist::CloseReport&)>;

  /// `closed` runs on the network thread. The cluster may come later, but before close_until().
  /// Errors: std::system_error without a thread.
  Closer(std::optional<heist::AgentCluster>& cluster, boost::asio::io_context& io, Closed closed);
  /// Blocks: until the cluster is closed, if that has begun.
  ~Closer();
  Closer(const Closer&) = delete;
  Closer& operator=(const Closer&) = delete;

  /// Begins to close, for the first call; what is left at the deadline is aborted.
  ///
  /// Thread: the network's.   Blocks: never.
  void close_until(Clock::time_point deadline) noexcept;

 private:
  void run();
  [[nodiscard]] heist::CloseReport close() const;

  std::optional<heist::AgentCluster>& cluster_;
  std::optional<Clock::time_point> deadline_;
  heist::PromiseWithResolver<heist::CloseReport> end_;
  std::counting_semaphore<> start_{0};
  std::thread thread_;
};

}  // namespace heistd
