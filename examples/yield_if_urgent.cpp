// Long work that asks often whether something more urgent waits, and goes on at once if not. What
// is no coroutine asks, too, and posts the rest of its work.
#include <cstddef>
#include <cstdio>
#include <heist/heist.hpp>
#include <string>
#include <vector>

namespace {

std::size_t looked_at = 0;
std::string order;

void look_at(std::size_t /*item*/) { ++looked_at; }

heist::Promise<long> sum(const std::vector<int>& numbers) {
  long total = 0;
  for (const int number : numbers) {
    total += number;
    co_await heist::yield_if_urgent();
  }
  co_return total;
}

void scan(const heist::Scheduler& scheduler, std::size_t from, std::size_t to) {
  for (bool goes_on = true; goes_on && from < to; goes_on = !heist::urgent_waiting()) {
    look_at(from++);
  }
  if (from == to) return;
  scheduler.post([scheduler, from, to] { scan(scheduler, from, to); },
                 {.priority = heist::TaskPriority::background});
}

}  // namespace

int main() {
  heist::EventLoop loop;
  const heist::Scheduler scheduler = loop.scheduler();
  const std::vector<int> numbers(1000, 1);

  const auto total = scheduler.post_task([&] {
    scheduler.post([] { order += "urgent, "; }, {.priority = heist::TaskPriority::user_blocking});
    return sum(numbers);
  });
  static_cast<void>(total.then(scheduler, [](long) { order += "sum"; }));
  loop.run_until_idle();
  std::printf("%s: %ld\n", order.c_str(), total.get());

  scheduler.post(
      [&] {
        scheduler.post([] {});  // user-visible, so before the rest of the scan
        scan(scheduler, 0, 1000);
      },
      {.priority = heist::TaskPriority::background});
  const std::size_t tasks = loop.run_until_idle();
  std::printf("looked at %zu things in %zu tasks\n", looked_at, tasks);
  return order == "urgent, sum" && total.get() == 1000 && looked_at == 1000 && tasks == 3 ? 0 : 1;
}
