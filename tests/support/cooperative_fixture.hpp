// CooperativeFixture: a cooperative scheduler on a loop with a virtual clock.
#pragma once

#include <heist/cooperative_callback.hpp>
#include <heist/cooperative_scheduler.hpp>
#include <heist/event_loop.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/runtime_fixture.hpp"

namespace heist::support {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""ns;
using std::chrono_literals::operator""us;

/// Time moves only when the test says so.
class CooperativeFixture : public RuntimeFixture {
 protected:
  static constexpr auto immediate = CooperativePriority::immediate;
  static constexpr auto user_blocking = CooperativePriority::user_blocking;
  static constexpr auto normal = CooperativePriority::normal;
  static constexpr auto low = CooperativePriority::low;
  static constexpr auto idle = CooperativePriority::idle;

  static std::string name_of(CooperativePriority level);

  /// Schedules a task that adds the label to the trace.
  CooperativeTask schedule(CooperativePriority level, std::string label, Milliseconds delay = {}) {
    return scheduler.schedule_callback(
        level, [this, label = std::move(label)] { trace.add(label); }, {.delay = delay});
  }
  /// Posts a plain task of the loop.
  void post(std::string label) {
    loop.scheduler().post([this, label = std::move(label)] { trace.add(label); });
  }
  /// Lets time pass as if the thread were busy for so long.
  void busy(std::chrono::nanoseconds duration) { loop.spend(duration); }
  /// Runs what is runnable. Returns the labels traced since the last call.
  std::vector<std::string> run() {
    loop.run_until_idle();
    return trace.take();
  }
  std::vector<std::string> advance(std::chrono::nanoseconds duration) {
    loop.advance(duration);
    return trace.take();
  }

  EventLoop loop{{.clock = LoopClock::virtual_time}};
  CooperativeScheduler scheduler{loop.scheduler()};
};

}  // namespace heist::support
