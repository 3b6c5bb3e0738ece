// Replaces what runs std::execution's parallel_scheduler. It is compiled into each program that
// links heist::parallel_scheduler, with that program's library of senders.
#include <heist/agent_cluster.hpp>
#include <heist/parallel_scheduler.hpp>
#include <memory>

#if defined(STDEXEC_PARALLEL_SCHEDULER_HEADER_ONLY)
#error \
    "heist::parallel_scheduler cannot replace a scheduler of STDEXEC_PARALLEL_SCHEDULER_HEADER_ONLY"
#endif

/// A cluster with default options, user-visible: the first call makes it, and the program's end
/// closes it.
std::shared_ptr<heist::execution::replacement::parallel_scheduler_backend>
heist::execution::replacement::query_parallel_scheduler_backend() {
  static const heist::AgentCluster cluster;
  static const auto backend =
      heist::execution::make_parallel_scheduler_backend(cluster.scheduler());
  return backend;
}
