// A pipeline: one coroutine makes numbers, two square them, and one adds up. No more than four
// numbers wait between two of them.
#include <cstdio>
#include <heist/heist.hpp>

namespace {

using Numbers = heist::Channel<int>;

heist::Promise<void> make(const Numbers& numbers, int count) {
  for (int made = 0; made < count; ++made) {
    if (!co_await numbers.send(made + 1)) co_return;  // nobody wants more
  }
}

heist::Promise<void> square(const Numbers& numbers, const Numbers& squares) {
  while (const auto number = co_await numbers.receive()) {
    if (!co_await squares.send(*number * *number)) co_return;
  }
}

heist::Promise<long> add(const Numbers& squares) {
  long sum = 0;
  while (const auto number = co_await squares.receive()) sum += *number;
  co_return sum;
}

/// Closes each channel when all who send through it have ended.
heist::Promise<void> run_stages(const heist::Scheduler& scheduler, const Numbers& numbers,
                                const Numbers& squares) {
  heist::TaskScope makers(scheduler);
  heist::TaskScope squarers(scheduler);
  makers.start([&] { return make(numbers, 100); });
  for (int i = 0; i < 2; ++i) squarers.start([&] { return square(numbers, squares); });
  co_await makers.join();
  numbers.close();
  co_await squarers.join();
  squares.close();
}

}  // namespace

int main() {
  const Numbers numbers(4);
  const Numbers squares(4);
  heist::AgentCluster cluster({.agents = 2});
  const heist::Scheduler scheduler = cluster.scheduler();

  const auto stages = scheduler.post_task([&] { return run_stages(scheduler, numbers, squares); });
  const auto sum = scheduler.post_task([&] { return add(squares); });
  stages.get();
  std::printf("%ld\n", sum.get());
  return sum.get() == 338'350 ? 0 : 1;
}
