// One signal for a group of tasks: one call aborts those that have not started, and tells those
// that run.
#include <cstdio>
#include <heist/heist.hpp>
#include <string>
#include <vector>

int main() {
  heist::Agent agent;
  const heist::Scheduler scheduler = agent.scheduler();
  heist::AbortController controller;
  const heist::AbortSignal signal = controller.signal();

  // The first one runs when the group is aborted: it sees that, and stops.
  auto [started, has_started] = heist::Promise<void>::with_resolver();
  std::vector<heist::Promise<int>> group;
  group.push_back(scheduler.post_task(
      [signal, start = std::move(has_started)]() mutable {
        start.resolve();
        int steps = 0;
        while (!signal.aborted()) ++steps;
        return steps;
      },
      {.signal = signal}));
  // The others wait behind it and will never start.
  for (int i = 0; i < 9; ++i) {
    group.push_back(scheduler.post_task([i] { return i; }, {.signal = signal}));
  }

  started.get();
  controller.abort("the user left");

  int aborted = 0;
  for (const auto& promise : group) {
    try {
      promise.get();
    } catch (const heist::Aborted& error) {
      ++aborted;
      if (aborted == 1) std::printf("reason: %s\n", error.reason().what().c_str());
    }
  }
  std::printf("%d of %zu tasks aborted\n", aborted, group.size());
  return aborted == 10 ? 0 : 1;
}
