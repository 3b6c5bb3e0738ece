// A pipeline of senders runs as tasks of a cluster. Its request is re-prioritised by one call.
#include <cstdio>
#include <heist/execution.hpp>
#include <heist/heist.hpp>
#include <tuple>
#include <utility>

namespace ex = HEIST_EXECUTION_NAMESPACE;  // std::execution, or stdexec

int main() {
  heist::AgentCluster cluster;
  const auto agents = heist::execution::as_scheduler(cluster.scheduler());
  heist::TaskController request(heist::TaskPriority::background);
  auto pipeline = ex::write_env(ex::schedule(agents) | ex::then([] { return 6; }) |
                                    ex::then([](int read) { return read * 7; }),
                                ex::prop{heist::execution::get_signal, request.signal()});

  request.set_priority(heist::TaskPriority::user_blocking);  // of all its steps, waiting or not
  const auto answer = ex::sync_wait(std::move(pipeline));    // nothing, if it was aborted
  std::printf("%d\n", answer ? std::get<0>(*answer) : 0);
  return answer && std::get<0>(*answer) == 42 ? 0 : 1;
}
