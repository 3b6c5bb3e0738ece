#include "scenarios/cooperative/interpreter.hpp"

namespace heist::test {

CooperativeInterpreter::CooperativeInterpreter(const Json& scenario)
    : scenario_(scenario), host_(scenario.at("start").get<double>()) {
  host_.serve([this] { run_message(); }, [this] { scheduler_.expire_timeout(); });
}

CooperativeTraces CooperativeInterpreter::run() {
  for (const Json& step : scenario_["steps"]) {
    try {
      run_top_step(step);
    } catch (const Thrown& thrown) {
      record("threw", nullptr, thrown.message);
    }
  }
  record("end", number(host_.clock()));
  return {.main = std::move(trace_), .host = host_.end()};
}

/// The host calls the scheduler, and says how that has ended.
void CooperativeInterpreter::run_message() {
  try {
    scheduler_.perform_work();
  } catch (const Thrown& thrown) {
    return record("threw", thrown.task, thrown.message);
  }
  record(host_.has_message() ? "yielded" : "idle", number(host_.clock()));
}

void CooperativeInterpreter::run_top_step(const Json& step) {
  if (!run_host_step(step)) static_cast<void>(run_step(step, {}));
}

/// False: the step is none of those that only the top level has, or has in its own way.
bool CooperativeInterpreter::run_host_step(const Json& step) {
  const Json& op = step["op"];
  if (op == "advance") {
    host_.advance(step["ms"]);
  } else if (op == "block") {
    host_.be_busy(step["ms"]);
  } else if (op == "flushHost") {
    if (!host_.flush_message()) record("nomessage", number(host_.clock()));
  } else if (op == "fireTimeouts") {
    host_.fire_timeouts();
  } else if (op == "flushAll") {
    host_.flush_all();
  } else {
    return false;
  }
  return true;
}

CooperativeTraces replay_cooperative(const Json& scenario) {
  return CooperativeInterpreter(scenario).run();
}

}  // namespace heist::test
