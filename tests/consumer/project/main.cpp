// A user's program: two tasks on an embedded loop run in the order of their priorities.
#include <cstdio>
#include <heist/heist.hpp>
#include <string>

int main() {
  heist::EventLoop loop({.clock = heist::LoopClock::virtual_time});
  const heist::Scheduler scheduler = loop.scheduler();
  std::string order;
  scheduler.post([&order] { order += "later "; }, {.priority = heist::TaskPriority::background});
  scheduler.post([&order] { order += "first "; }, {.priority = heist::TaskPriority::user_blocking});
  loop.run_until_idle();
  std::puts(order.c_str());
  return order == "first later " ? 0 : 1;
}
