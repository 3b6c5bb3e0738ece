// Several agents share what is posted; a coroutine visits one of them for what must stay on one
// thread.
#include <cstdint>
#include <cstdio>
#include <heist/heist.hpp>
#include <vector>

namespace {

std::uint64_t sum_of_squares(std::uint64_t first, std::uint64_t last) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = first; i < last; ++i) sum += i * i;
  return sum;
}

}  // namespace

int main() {
  const heist::AgentCluster cluster({.agents = 4});
  const heist::Scheduler anywhere = cluster.scheduler();
  std::vector<std::uint64_t> log;  // agent 0 only

  const auto job = [&](std::uint64_t first) -> heist::Promise<void> {
    const std::uint64_t sum = sum_of_squares(first, first + 1000);
    co_await heist::resume_on(cluster.agent(0));
    log.push_back(sum);
  };
  std::vector<heist::Promise<void>> jobs;
  for (std::uint64_t first = 0; first < 100'000; first += 1000) {
    jobs.push_back(anywhere.post_task([&job, first] { return job(first); }));
  }
  for (const auto& done : jobs) done.get();

  std::uint64_t total = 0;
  for (const std::uint64_t sum : log) total += sum;
  std::printf("%zu jobs, %llu\n", log.size(), static_cast<unsigned long long>(total));
  return total == sum_of_squares(0, 100'000) ? 0 : 1;
}
