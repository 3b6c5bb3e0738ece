// A loop in a pipeline of senders: all agents of a cluster share its calls, in the background.
#include <cstddef>
#include <cstdio>
#include <heist/bulk.hpp>
#include <heist/execution.hpp>
#include <heist/heist.hpp>
#include <numeric>
#include <vector>

namespace ex = HEIST_EXECUTION_NAMESPACE;  // std::execution, or stdexec

int main() {
  heist::AgentCluster cluster;
  const auto agents = heist::execution::with_parallel_bulk(
      heist::execution::as_scheduler(cluster.scheduler(), heist::TaskPriority::background));
  std::vector<long> squares(1'000);
  ex::sync_wait(ex::schedule(agents) | ex::bulk(ex::par, squares.size(), [&](std::size_t i) {
                  squares[i] = static_cast<long>(i * i);
                }));

  const long sum = std::accumulate(squares.begin(), squares.end(), 0L);
  std::printf("%ld\n", sum);
  return sum == 332'833'500 ? 0 : 1;
}
