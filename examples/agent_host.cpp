// An agent that sleeps in epoll: its thread serves a pipe and runs tasks.
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <functional>
#include <heist/heist.hpp>
#include <string>
#include <system_error>
#include <utility>

namespace {

int checked(int result) {
  if (result < 0) throw std::system_error(errno, std::generic_category());
  return result;
}

/// Calls `on_readable()` on the agent's thread while a descriptor is readable.
class EpollHost final : public heist::AgentHost {
 public:
  EpollHost(int descriptor, std::function<void()> on_readable)
      : descriptor_(descriptor), on_readable_(std::move(on_readable)) {
    watch(descriptor_);
  }
  ~EpollHost() override { close(epoll_); }

  void begin(int wakeup_fd) override { watch(wakeup_ = wakeup_fd); }
  void poll() noexcept override {
    std::array<epoll_event, 64> events{};
    const int count = epoll_wait(epoll_, events.data(), events.size(), 0);
    for (int at = 0; at < count; ++at) {
      if (events[static_cast<unsigned>(at)].data.fd == descriptor_) on_readable_();
    }  // the agent reads its own descriptor
  }
  void wait() noexcept override {
    pollfd ready{.fd = epoll_, .events = POLLIN, .revents = 0};
    static_cast<void>(::poll(&ready, 1, -1));
  }
  void end() noexcept override { epoll_ctl(epoll_, EPOLL_CTL_DEL, wakeup_, nullptr); }

 private:
  void watch(int descriptor) const {
    epoll_event event{.events = EPOLLIN, .data = {.fd = descriptor}};
    checked(epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event));
  }

  const int epoll_ = checked(epoll_create1(EPOLL_CLOEXEC));
  const int descriptor_;
  const std::function<void()> on_readable_;
  int wakeup_ = -1;
};

/// What the agent reads becomes a task.
void read_request(int pipe, const heist::Scheduler& scheduler) {
  std::array<char, 64> buffer{};
  const auto size = read(pipe, buffer.data(), buffer.size());
  if (size <= 0) return;
  scheduler.post([text = std::string(buffer.data(), static_cast<std::size_t>(size))] {
    std::printf("request: %s\n", text.c_str());
  });
}

void run() {
  std::array<int, 2> ends{};
  checked(pipe(ends.data()));
  auto [served, resolver] = heist::Promise<void>::with_resolver();
  EpollHost host(ends[0], [&ends, to_settle = &resolver] {
    const auto scheduler = heist::Agent::current()->scheduler();
    read_request(ends[0], scheduler);
    scheduler.post([to_settle] { to_settle->resolve(); });
  });
  {
    heist::AgentCluster cluster({.hosts = {&host}});
    static_cast<void>(!write(ends[1], "hello", 5));
    served.get();
  }
  for (const int end : ends) close(end);
}

}  // namespace

int main() {
  try {
    run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "agent_host: %s\n", error.what());
    return 1;
  }
}
