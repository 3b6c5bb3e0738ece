// AgentSleep: how an agent without work sleeps, and is woken.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <optional>

#include "../concurrent/inbox.hpp"
#include "../concurrent/tracing.hpp"
#include "../os/parker.hpp"
#include "../os/spin_rule.hpp"
#include "agent_activity.hpp"
#include "host_turns.hpp"
#include "sleep_time.hpp"

namespace HEIST_NAMESPACE::detail {

/// A sleep has these steps, in this order: prepare(); announce(), after which the agent looks for
/// work once more; until(); end(). The edges are those of Inbox and Parker.
class AgentSleep {
 public:
  using Moment = std::optional<Parker::Clock::time_point>;

  /// Posts to `inbox` wake the agent. `spin` is how long it looks for work before it sleeps, where
  /// work is frequent.
  AgentSleep(Inbox& inbox, std::chrono::nanoseconds spin, const MetricClock& clock) noexcept
      : inbox_(inbox), spin_(spin), time_(clock) {}

  // What any thread may call.

  /// Called by the thread that has ended the agent's sleep in its word (Inbox, IdleAgents).
  void wake_up() noexcept {
    wakeups_sent_.fetch_add(1, sync::relaxed);  // relaxed: a statistic.
    parker_.unpark();
  }
  [[nodiscard]] std::uint64_t wakeups_sent() const noexcept {
    return wakeups_sent_.load(sync::relaxed);  // relaxed: a statistic.
  }
  [[nodiscard]] std::uint64_t count() const noexcept {
    return count_.load(sync::relaxed);  // relaxed: a statistic.
  }
  /// For how long the agent has slept. Only the agent begins and ends it. A reserve sleeps while it
  /// has no thread, and a host ends the sleep when it is about to call users' code within its wait.
  [[nodiscard]] SleepTime& time() noexcept { return time_; }
  [[nodiscard]] Parker& parker() noexcept { return parker_; }

  // What only the agent calls.

  /// How long the agent looks for work before it sleeps.
  [[nodiscard]] SpinRule& spin() noexcept { return spin_; }
  [[nodiscard]] HostTurns& host() noexcept { return host_; }
  void prepare() noexcept { parker_.prepare(); }
  /// Announces sleep. Returns false when something was posted meanwhile.
  [[nodiscard]] bool announce() noexcept { return inbox_.try_sleep(); }
  void count_one() noexcept {
    // relaxed: one writer, a statistic.
    count_.store(count_.load(sync::relaxed) + 1, sync::relaxed);
  }
  /// Sleeps until the agent is woken, or until the deadline.
  void until(const Moment& deadline, AgentActivity& activity) noexcept {
    activity.say_rests();
    time_.begin();
    if (Tracing::is_on()) Tracing::record({.kind = TraceKind::sleep});
    host_.has_host() ? wait_in_host(deadline) : parker_.wait(deadline);
    trace_wake();
    time_.end();
    activity.say_moves();
  }
  /// Called when the agent is awake; the host may have said so before.
  static void trace_wake() noexcept {
    if (Tracing::is_on()) Tracing::record({.kind = TraceKind::wake});
  }
  void end() noexcept { static_cast<void>(inbox_.cancel_sleep()); }

  // What an agent calls instead of a sleep when a foreign loop waits for its descriptor.

  /// Announces sleep and arms the descriptor, or makes it readable at once if `has_work()`.
  template <class HasWork>
  void arm_descriptor(HasWork&& has_work, const Moment& deadline) noexcept {
    prepare();
    if (has_work() || !announce()) return parker_.unpark();
    parker_.arm_descriptor(deadline);
  }
  void disarm_descriptor() noexcept {
    end();
    parker_.clear_descriptor();
  }

 private:
  void wait_in_host(const Moment& deadline) noexcept {
    parker_.arm_descriptor(deadline);
    host_.wait();
    parker_.clear_descriptor();
  }

  Inbox& inbox_;
  sync::atomic<std::uint64_t> wakeups_sent_{0};
  Parker parker_;
  SpinRule spin_;
  HostTurns host_;
  sync::atomic<std::uint64_t> count_{0};  ///< how often it has slept
  SleepTime time_;
};

}  // namespace HEIST_NAMESPACE::detail
