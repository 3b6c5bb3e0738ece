// HostTurns: an agent's host, and when it is its turn.
#pragma once

#include <chrono>
#include <cstddef>
#include <heist/agent_host.hpp>
#include <heist/event_loop.hpp>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// Tasks and the host take turns, so that neither starves. Agents without a host have nothing here.
///
/// Thread: the loop's agent.
class HostTurns {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr TurnLimits limits{.tasks = 64, .time = std::chrono::microseconds(100)};
  /// How long an agent may spin. A turn of the host ends a spin, and the agent spins anew after
  /// that: if a spin lasted until the next turn, the agent would never sleep.
  static constexpr std::chrono::nanoseconds longest_spin = limits.time / 2;

  void begin(AgentHost& host) noexcept {
    host_ = &host;
    begin_tasks();
  }
  void end() noexcept { host_ = nullptr; }
  [[nodiscard]] bool has_host() const noexcept { return host_ != nullptr; }

  /// Whether the host's turn has come.
  [[nodiscard]] bool is_due() const noexcept { return host_ != nullptr && Clock::now() >= due_; }
  /// The same, when a task has run since the last call.
  [[nodiscard]] bool is_due_after_task() noexcept {
    return host_ != nullptr && (++tasks_ >= limits.tasks || Clock::now() >= due_);
  }
  void poll() noexcept {
    host_->poll();
    begin_tasks();
  }
  /// The host's turn comes after the next task, as there may be events.
  void wait() noexcept {
    waits_ = true;
    host_->wait();
    waits_ = false;
    due_ = {};
  }
  /// Called when the host is about to call users' code. Returns whether that ends a wait.
  [[nodiscard]] bool end_wait() noexcept { return std::exchange(waits_, false); }

 private:
  void begin_tasks() noexcept {
    tasks_ = 0;
    due_ = Clock::now() + limits.time;
  }

  AgentHost* host_ = nullptr;
  bool waits_ = false;     ///< in wait(), and it has called nothing
  std::size_t tasks_ = 0;  ///< since the host's last turn
  Clock::time_point due_;  ///< when its next one comes at the latest
};

}  // namespace HEIST_NAMESPACE::detail
