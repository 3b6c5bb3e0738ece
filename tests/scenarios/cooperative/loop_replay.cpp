// Cooperative scenarios on an event loop of the library's.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <heist/event_loop.hpp>
#include <set>
#include <stdexcept>
#include <string>

#include "scenarios/cooperative/interpreter.hpp"
#include "scenarios/cooperative/replay.hpp"

namespace heist::test {

namespace {

bool is_hosts_at_top_level(const Json& step) {
  static const std::set<std::string> ops{"advance", "flushHost", "fireTimeouts", "flushAll"};
  return ops.contains(step["op"]);
}

bool is_whole(const Json& step) {
  return std::ranges::all_of(std::initializer_list<const char*>{"ms", "delay"},
                             [&](const char* member) {
                               const double time = step.value(member, 0.0);
                               return std::trunc(time) == time;
                             });
}

bool has_whole_times(const Json& steps) {
  bool result = true;
  for_each_step(steps, "steps", [&](const Json& step, const std::string& /*place*/) {
    result = result && is_whole(step);
  });
  return result;
}

}  // namespace

bool is_for_loops(const Json& scenario) {
  const Json& steps = scenario.at("steps");
  return scenario.at("start") == 0 && !steps.empty() && steps.back()["op"] == "flushAll" &&
         std::ranges::count_if(steps, is_hosts_at_top_level) == 1 && has_whole_times(steps);
}

Json replay_cooperative_on_loop(const Json& scenario) {
  EventLoop loop({.clock = LoopClock::virtual_time});
  const auto spend = [&loop](double ms) {
    loop.spend(std::chrono::round<std::chrono::nanoseconds>(Milliseconds(ms)));
  };
  CooperativeInterpreter interpreter(CooperativeScheduler(loop.scheduler()), spend);
  loop.queue_task(TaskSource::user, [&] {
    for (const Json& step : scenario["steps"]) {
      if (!is_hosts_at_top_level(step)) interpreter.run_top_step(step);
    }
  });
  loop.advance(std::chrono::nanoseconds::max());
  if (loop.pending() != 0) throw std::runtime_error("tasks are left");
  return interpreter.take_trace();
}

Json what_tasks_did(const Json& trace) {
  static const std::set<std::string> hosts{"yielded", "idle", "nomessage", "end"};
  Json events = Json::array();
  std::ranges::copy_if(trace, std::back_inserter(events), [](const Json& event) {
    const bool is_hosts = hosts.contains(event[0]) || (event[0] == "threw" && event[1] != nullptr);
    return !is_hosts;
  });
  return events;
}

}  // namespace heist::test
