// A user's program: two tasks on an embedded loop run in the order of their priorities, and tasks
// end with a value, a promise, a fork and an exception.
#include <array>
#include <cstdio>
#include <heist/heist.hpp>
#include <stdexcept>
#include <string>

namespace {

heist::Promise<int> yields(int result) {
  co_await heist::yield();
  co_return result;
}
/// Its frame is too large for the library's pool, and comes from the allocator of large nodes.
heist::Promise<int> keeps_much(int result) {
  std::array<volatile int, 1000> much{};
  much[999] = result;
  co_await heist::yield();
  co_return much[999];
}
heist::Forkable<int> leaf(int result) { co_return result; }
heist::Forkable<int> forks(int result) {
  auto forked = co_await fork(leaf(result));
  co_await heist::join();
  co_return forked.value();
}

/// Whether value, promise, fork and exception come out as what the tasks returned.
bool outcomes_are_right(heist::EventLoop& loop) {
  const heist::Scheduler scheduler = loop.scheduler();
  const heist::TaskController controller;  // the library ends a task with a signal in another way
  const auto value = scheduler.post_task([] { return 1; }, {.signal = controller.signal()});
  const auto promise = scheduler.post_task([] { return yields(2); });
  const auto large = scheduler.post_task([] { return keeps_much(4); });
  const auto fork = scheduler.post_task([] { return forks(3); });
  const auto thrown = scheduler.post_task([]() -> int { throw std::runtime_error("thrown"); });
  loop.run_until_idle();
  try {
    thrown.get();
    return false;
  } catch (const std::runtime_error&) {
    return value.get() == 1 && promise.get() == 2 && fork.get() == 3 && large.get() == 4;
  }
}

}  // namespace

int main() {
  heist::EventLoop loop({.clock = heist::LoopClock::virtual_time});
  const heist::Scheduler scheduler = loop.scheduler();
  std::string order;
  scheduler.post([&order] { order += "later "; }, {.priority = heist::TaskPriority::background});
  scheduler.post([&order] { order += "first "; }, {.priority = heist::TaskPriority::user_blocking});
  loop.run_until_idle();
  std::puts(order.c_str());
  return order == "first later " && outcomes_are_right(loop) ? 0 : 1;
}
