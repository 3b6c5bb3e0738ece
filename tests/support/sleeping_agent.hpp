// SleepingAgent: an agent that is known to be asleep.
#pragma once

#include <heist/agent.hpp>
#include <heist/scheduler.hpp>

#include "support/threads.hpp"

namespace heist::support {

/// An agent that sleeps as soon as it has nothing to do, without spinning first.
class SleepingAgent {
 public:
  /// Returns when the agent sleeps.   Precondition: only this thread gives it work, and none of its
  /// delays ends soon.
  void fall_asleep() {
    const auto before = scheduler().post_task([this] { return agent_.stats().sleeps; }).get();
    wait_until([&] { return agent_.stats().sleeps > before; });
  }

  [[nodiscard]] Scheduler scheduler() const { return agent_.scheduler(); }
  [[nodiscard]] EventLoopStats stats() const { return agent_.stats(); }

 private:
  static AgentOptions options() {
    AgentOptions options;
    options.loop.spin = options.loop.spin.zero();
    return options;
  }

  Agent agent_{options()};
};

}  // namespace heist::support
