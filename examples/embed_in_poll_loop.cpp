// A program that has a poll(2) loop of its own: one descriptor says when heist has something to do,
// timers included.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <heist/heist.hpp>
#include <thread>

using namespace std::chrono_literals;

int main() {
  std::array<int, 2> input{};
  if (::pipe(input.data()) != 0) return 1;

  heist::EventLoop loop;
  const heist::Scheduler scheduler = loop.scheduler();
  bool done = false;

  // Another thread has something for us, and then the program's own input has.
  std::thread other([&] {
    scheduler.post([&] {
      std::puts("task: posted by another thread");
      scheduler.post(
          [&] {
            std::puts("task: delayed");
            done = true;
          },
          {.delay = 5ms});
    });
    static_cast<void>(!::write(input[1], "x", 1));
  });

  std::array<pollfd, 2> watched{pollfd{.fd = loop.wakeup_fd(), .events = POLLIN, .revents = 0},
                                pollfd{.fd = input[0], .events = POLLIN, .revents = 0}};
  while (!done || watched[1].events != 0) {
    if (::poll(watched.data(), watched.size(), -1) < 0) return 1;
    if ((watched[1].revents & POLLIN) != 0) {
      std::puts("input: of the program itself");
      watched[1].events = 0;
    }
    if ((watched[0].revents & POLLIN) != 0) loop.poll();
  }

  other.join();
  for (const int end : input) ::close(end);
  return 0;
}
