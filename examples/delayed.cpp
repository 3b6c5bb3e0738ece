// Delays: a task is runnable after its delay, never earlier, and may be aborted while it waits.
#include <chrono>
#include <cstdio>
#include <heist/heist.hpp>

using namespace std::chrono_literals;

int main() {
  heist::Agent agent;
  const heist::Scheduler scheduler = agent.scheduler();
  heist::AbortController controller;

  const auto start = std::chrono::steady_clock::now();
  const auto never = scheduler.post_task([] {}, {.signal = controller.signal(), .delay = 1h});
  const auto elapsed = scheduler.post_task(
      [start] { return std::chrono::steady_clock::now() - start; }, {.delay = 20ms});
  controller.abort();

  const bool in_time = elapsed.get() >= 20ms;
  std::printf("the delayed task ran %s\n", in_time ? "in time" : "too early");
  try {
    never.get();
    return 1;
  } catch (const heist::AbortError& error) {
    std::printf("the other one: %s\n", error.what());
  }
  return in_time ? 0 : 1;
}
