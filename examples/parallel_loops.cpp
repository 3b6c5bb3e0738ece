// Loops over arrays on all agents of a cluster, as background work that an urgent task need not
// wait for.
#include <cmath>
#include <cstdio>
#include <functional>
#include <heist/heist.hpp>
#include <heist/parallel.hpp>
#include <vector>

namespace {

/// Normalises, and gives the values in order.
std::vector<double> ranked(std::vector<double> values) {
  const double sum = heist::parallel_reduce(
      values.begin(), values.end(), 0.0, [](double so_far, auto at) { return so_far + *at; },
      std::plus<>());
  const double mean = sum / static_cast<double>(values.size());
  heist::parallel_for(values.begin(), values.end(), [&](auto at) { *at = std::abs(*at - mean); });
  heist::parallel_sort(values.begin(), values.end(), std::greater<>());
  return values;
}

}  // namespace

int main() {
  heist::AgentCluster cluster;
  const heist::Scheduler scheduler = cluster.scheduler();
  std::vector<double> values(200'000);
  heist::parallel_for(std::size_t{0}, values.size(),  // off the cluster: this thread alone
                      [&](std::size_t at) { values[at] = std::sin(static_cast<double>(at)); });

  auto ranking = scheduler.post_task([&values] { return ranked(values); },
                                     {.priority = heist::TaskPriority::background});
  auto urgent =
      scheduler.post_task([] { return 42; }, {.priority = heist::TaskPriority::user_blocking});
  std::printf("meanwhile: %d\n", urgent.get());
  const auto result = ranking.get();
  std::printf("farthest from the mean: %.3f, nearest: %.3f\n", result.front(), result.back());
  return result.front() >= result.back() ? 0 : 1;
}
