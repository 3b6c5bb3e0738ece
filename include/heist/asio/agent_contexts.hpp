// AgentContexts: an io_context inside of each agent of a cluster, so that the agents' threads serve
// sockets and tasks.
#pragma once

#include <heist/agent_host.hpp>
#include <heist/asio/context_host.hpp>
#include <heist/asio/hosted_executor.hpp>
#include <heist/asio/library.hpp>
#include <heist/error.hpp>
#include <memory>
#include <stdexcept>
#include <vector>

namespace HEIST_ASIO_NAMESPACE {

/// One io_context for each agent of a cluster that is made with `hosts()`. The agents run them in
/// turns with their tasks, and sleep in them. No thread is started. Make it before the cluster, so
/// that it is destroyed after that has closed: handlers that wait then are destroyed, and not
/// called. Make a TaskContext before both.
///
///     heist::asio::AgentContexts contexts(4);
///     heist::AgentCluster cluster({.hosts = contexts.hosts()});
///     tcp::acceptor acceptor(contexts[0], endpoint);
///
/// Thread:   any.
/// Lifetime: it outlives the cluster, and whatever is made on its executors.
/// Spec:     contract ASIO-10, ASIO-11, HOST.
class AgentContexts {
 public:
  /// An executor of an io_context, which says that it is that of an agent.
  using executor_type = HostedExecutor<net::io_context::executor_type>;

  /// Errors: std::invalid_argument for none, that of the library, std::bad_alloc.
  explicit AgentContexts(unsigned agents) {
    if (agents == 0) throw std::invalid_argument("AgentContexts: a cluster has agents");
    for (unsigned index = 0; index < agents; ++index)
      hosts_.push_back(std::make_unique<ContextHost>());
  }

  AgentContexts(const AgentContexts&) = delete;
  AgentContexts& operator=(const AgentContexts&) = delete;
  /// All handlers are destroyed before the first io_context: those of one may own sockets of
  /// another.
  ~AgentContexts() {
    for (const auto& host : hosts_) host->shut_down();
  }

  /// For AgentClusterOptions::hosts. Only one cluster at a time may have them.
  [[nodiscard]] std::vector<AgentHost*> hosts() const {
    std::vector<AgentHost*> hosts;
    for (const auto& host : hosts_) hosts.push_back(host.get());
    return hosts;
  }
  [[nodiscard]] unsigned size() const noexcept { return static_cast<unsigned>(hosts_.size()); }

  /// Where sockets and timers of this agent are made, and their handlers run.
  ///
  /// Errors: std::out_of_range.
  [[nodiscard]] executor_type operator[](unsigned agent) const {
    if (agent >= size()) throw std::out_of_range("AgentContexts: there are fewer agents");
    return executor_of(*hosts_[agent]);
  }
  /// The same for the agent whose thread calls it.
  ///
  /// Thread: an agent.   Errors: NotAllowedError on threads that are none of these agents.
  [[nodiscard]] executor_type of_this_agent() const {
    for (const auto& host : hosts_) {
      if (host.get() == ContextHost::here()) return executor_of(*host);
    }
    throw NotAllowedError("AgentContexts::of_this_agent: this thread is none of the agents");
  }

 private:
  static executor_type executor_of(ContextHost& host) noexcept {
    return executor_type(host.context().get_executor());
  }

  std::vector<std::unique_ptr<ContextHost>> hosts_;
};

}  // namespace HEIST_ASIO_NAMESPACE
