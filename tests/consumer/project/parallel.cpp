// A user's program: a sum on the agents of a cluster.
#include <cstdio>
#include <functional>
#include <heist/heist.hpp>
#include <heist/parallel.hpp>

int main() {
  heist::AgentCluster cluster({.agents = 2});
  auto sum = cluster.scheduler().post_task(
      [] { return heist::parallel_reduce(1, 1001, 0, std::plus<>(), std::plus<>()); });
  std::printf("%d\n", sum.get());
  return sum.get() == 500'500 ? 0 : 1;
}
