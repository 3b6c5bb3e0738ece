// Three priorities: whatever the order of the posts, the most urgent task runs first.
#include <cstdio>
#include <heist/heist.hpp>

int main() {
  heist::EventLoop loop;
  const heist::Scheduler scheduler = loop.scheduler();

  scheduler.post([] { std::puts("3. background: nobody waits for this"); },
                 {.priority = heist::TaskPriority::background});
  scheduler.post([] { std::puts("2. user-visible: the default"); });
  scheduler.post([] { std::puts("1. user-blocking: somebody waits for this"); },
                 {.priority = heist::TaskPriority::user_blocking});

  return loop.run_until_idle() == 3 ? 0 : 1;
}
