#include "scenarios/cooperative/replay.hpp"

#include <stdexcept>

#include "scenarios/cooperative/interpreter.hpp"
#include "scenarios/cooperative/number.hpp"
#include "scenarios/cooperative/virtual_host.hpp"

namespace heist::test {

namespace {

/// One run of one scenario on the virtual host.
class CooperativeReplay {
 public:
  explicit CooperativeReplay(const Json& scenario)
      : scenario_(scenario), host_(scenario.at("start").get<double>()) {
    host_.serve([this] { run_message(); }, [this] { scheduler_.expire_timeout(); });
  }

  [[nodiscard]] CooperativeTraces run() {
    for (const Json& step : scenario_["steps"]) {
      if (!run_host_step(step)) interpreter_.run_top_step(step);
    }
    interpreter_.record("end", number(host_.clock()));
    return {.main = interpreter_.take_trace(), .host = host_.end()};
  }

 private:
  /// The host calls the scheduler, and says how that has ended.
  void run_message() {
    try {
      scheduler_.perform_work();
    } catch (const CooperativeInterpreter::Thrown& thrown) {
      return interpreter_.record("threw", thrown.task, thrown.message);
    }
    interpreter_.record(host_.has_message() ? "yielded" : "idle", number(host_.clock()));
  }

  /// False: the step is none of those that only the top level has, or has in its own way.
  [[nodiscard]] bool run_host_step(const Json& step) {
    const Json& op = step["op"];
    if (op == "advance") {
      host_.advance(step["ms"]);
    } else if (op == "flushHost") {
      if (!host_.flush_message()) interpreter_.record("nomessage", number(host_.clock()));
    } else if (op == "fireTimeouts") {
      host_.fire_timeouts();
    } else if (op == "flushAll") {
      host_.flush_all();
    } else {
      return false;
    }
    return true;
  }

  const Json& scenario_;
  VirtualHost host_;
  CooperativeScheduler scheduler_{host_};
  CooperativeInterpreter interpreter_{scheduler_, [this](double ms) { host_.be_busy(ms); }};
};

}  // namespace

CooperativeTraces replay_cooperative(const Json& scenario) {
  return CooperativeReplay(scenario).run();
}

}  // namespace heist::test
