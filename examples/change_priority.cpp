// A TaskController changes the priority of tasks that are queued already: all of them, in one call.
#include <cstdio>
#include <heist/heist.hpp>
#include <string>

int main() {
  heist::EventLoop loop;
  const heist::Scheduler scheduler = loop.scheduler();
  heist::TaskController controller(heist::TaskPriority::background);
  const auto listener =
      controller.signal().on_priority_change([](const heist::PriorityChangeEvent& event) {
        std::printf("from %s to %s\n", std::string(to_string(event.previous)).c_str(),
                    std::string(to_string(event.current)).c_str());
      });

  std::string order;
  for (int i = 0; i < 3; ++i) {
    // No priority of its own: the task follows its signal.
    scheduler.post([&order] { order += 'p'; }, {.signal = controller.signal()});
  }
  scheduler.post([&order] { order += 'v'; });

  // The user scrolls to what these tasks prepare.
  controller.set_priority(heist::TaskPriority::user_blocking);
  loop.run_until_idle();

  std::printf("order: %s\n", order.c_str());
  return order == "pppv" ? 0 : 1;
}
