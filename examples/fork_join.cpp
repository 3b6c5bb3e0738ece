// Work that splits itself: each half may go to another agent, and does when one is idle.
#include <cstdint>
#include <cstdio>
#include <heist/agent_cluster.hpp>
#include <heist/heist.hpp>
#include <numeric>
#include <span>
#include <vector>

namespace {

/// Forks the left half, calls the right one, and waits for both.
heist::Forkable<std::uint64_t> sum(std::span<const std::uint32_t> numbers) {
  if (numbers.size() <= 1'000) {
    co_return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
  }
  const auto half = numbers.size() / 2;
  auto left = co_await fork(sum(numbers.first(half)));
  const auto right = co_await sum(numbers.subspan(half));
  co_await heist::join();
  co_return left.value() + right;
}

}  // namespace

int main() {
  heist::AgentCluster cluster;
  std::vector<std::uint32_t> numbers(1'000'000);
  std::iota(numbers.begin(), numbers.end(), 0U);

  // The whole tree is one task.
  const auto total = cluster.scheduler().post_task([&numbers] { return sum(numbers); });
  std::printf("%llu\n", static_cast<unsigned long long>(total.get()));
  return total.get() == 499'999'500'000U ? 0 : 1;
}
