// QueueHost: a host of an agent whose events are calls that any thread may put into a queue.
#pragma once

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <heist/agent_host.hpp>
#include <mutex>
#include <utility>

namespace heist::test {

/// It calls its events in poll(), or already in wait().
class QueueHost final : public AgentHost {
 public:
  enum class Calls : std::uint8_t { in_poll, in_wait };

  explicit QueueHost(Calls calls) : calls_(calls) {}
  ~QueueHost() override { close(event_); }

  /// Thread: any.
  void post(std::function<void()> call) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(call));
    }
    const std::uint64_t one = 1;
    static_cast<void>(!write(event_, &one, sizeof one));
  }

  void begin(int wakeup_fd) override { wakeup_ = wakeup_fd; }
  void poll() noexcept override { call_one(); }
  void wait() noexcept override {
    std::array<pollfd, 2> entries{{{.fd = wakeup_, .events = POLLIN, .revents = 0},
                                   {.fd = event_, .events = POLLIN, .revents = 0}}};
    static_cast<void>(::poll(entries.data(), entries.size(), -1));
    if (calls_ == Calls::in_wait) call_one();
  }
  void end() noexcept override { wakeup_ = -1; }
  /// Whether it is some agent's host now.   Thread: that agent's, or any when there is none.
  [[nodiscard]] bool is_in_use() const { return wakeup_ >= 0; }

 private:
  /// Calls the first, and leaves the descriptor readable if there are more.
  void call_one() {
    std::function<void()> call;
    {
      const std::lock_guard lock(mutex_);
      if (!queue_.empty()) {
        call = std::move(queue_.front());
        queue_.pop_front();
      }
      std::uint64_t count = 0;
      if (queue_.empty()) static_cast<void>(!read(event_, &count, sizeof count));
    }
    if (!call) return;
    end_wait();
    call();
  }

  const Calls calls_;
  const int event_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  int wakeup_ = -1;
  std::mutex mutex_;
  std::deque<std::function<void()>> queue_;  ///< guarded by mutex_
};

}  // namespace heist::test
