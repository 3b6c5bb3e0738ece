// AgentSleep: how an agent without work sleeps, and is woken.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <optional>

#include "../concurrent/inbox.hpp"
#include "../os/parker.hpp"
#include "../os/spin_rule.hpp"
#include "../task/metric_clock.hpp"
#include "agent_activity.hpp"
#include "host_turns.hpp"

namespace HEIST_NAMESPACE::detail {

/// A sleep has these steps, in this order: prepare(); announce(), after which the agent looks for
/// work once more; until(); end(). The edges are those of Inbox and Parker.
class AgentSleep {
 public:
  using Moment = std::optional<Parker::Clock::time_point>;

  /// Posts to `inbox` wake the agent. `spin` is how long it looks for work before it sleeps, where
  /// work is frequent.
  AgentSleep(Inbox& inbox, std::chrono::nanoseconds spin, const MetricClock& clock) noexcept
      : inbox_(inbox), spin_(spin), clock_(clock) {}

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
  /// For how long the agent has slept, in the unit of its MetricClock.
  [[nodiscard]] std::uint64_t slept() const noexcept {
    // relaxed, both: a statistic.
    const std::uint64_t since = asleep_since_.load(sync::relaxed);
    const std::uint64_t before = slept_.load(sync::relaxed);
    const std::uint64_t now = clock_.now();
    return before + (since != 0 && now > since ? now - since : 0);
  }
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
    begin_rest();
    host_.has_host() ? wait_in_host(deadline) : parker_.wait(deadline);
    end_rest();
    activity.say_moves();
  }
  /// For how long the agent sleeps is counted from begin_rest() to end_rest(). The host calls this
  /// one within its wait when it is about to call users' code, and a reserve rests while it has no
  /// thread.
  void begin_rest() noexcept {
    asleep_since_.store(clock_.now(), sync::relaxed);  // relaxed: a statistic.
  }
  void end_rest() noexcept {
    // relaxed, all: a statistic with one writer.
    const std::uint64_t since = asleep_since_.load(sync::relaxed);
    if (since == 0) return;
    const std::uint64_t now = clock_.now();
    asleep_since_.store(0, sync::relaxed);
    slept_.store(slept_.load(sync::relaxed) + (now > since ? now - since : 0), sync::relaxed);
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
  const MetricClock& clock_;
  sync::atomic<std::uint64_t> asleep_since_{0};  ///< in the clock's unit; zero when it is awake
  sync::atomic<std::uint64_t> slept_{0};
};

}  // namespace HEIST_NAMESPACE::detail
