// A sender completes in a task of an installed heist; the library of senders is a stand-in.
#include "../../support/senders.hpp"

#define HEIST_EXECUTION_NAMESPACE heist::support::senders
#include <heist/execution.hpp>
#include <heist/heist.hpp>

namespace ex = heist::support::senders;

int main() {
  heist::AgentCluster cluster;
  const auto agents = heist::execution::as_scheduler(cluster.scheduler());
  const auto answer = ex::sync_wait(ex::schedule(agents) | ex::then([] { return 42; }));
  return answer && std::get<0>(*answer) == 42 ? 0 : 1;
}
