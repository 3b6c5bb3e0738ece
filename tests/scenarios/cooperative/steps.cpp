// Bodies, and the steps that may stand in any (FORMAT.md 3 and 4).
#include <stdexcept>

#include "scenarios/cooperative/interpreter.hpp"
#include "scenarios/cooperative/priority_number.hpp"

namespace heist::test {

void CooperativeInterpreter::run_top_step(const Json& step) {
  try {
    static_cast<void>(run_step(step, {}));
  } catch (const Thrown& thrown) {
    record("threw", nullptr, thrown.message);
  }
}

CooperativeInterpreter::Value CooperativeInterpreter::run_body(const Json& steps,
                                                               const Context& context) {
  Value value;
  for (const Json& step : steps) value = run_step(step, context);
  return value;
}

/// First those that may have a value.
CooperativeInterpreter::Value CooperativeInterpreter::run_step(const Json& step,
                                                               const Context& context) {
  constexpr CooperativePriority none{0};
  const Json& op = step["op"];
  const auto body = [&] { return run_body(step["body"], context); };
  if (op == "continue") return continuation(step, context);
  if (op == "work") return work(step["units"], step["ms"], context);
  if (op == "try") return try_body(step, context);
  if (op == "next") return scheduler_.next(body);
  if (op == "runWithPriority") {
    return scheduler_.run_with_priority(priority_of_number(step["priority"]).value_or(none), body);
  }
  if (op == "wrap") {
    wrap(step, context);
  } else {
    run_plain_step(step);
  }
  return {};
}

void CooperativeInterpreter::run_plain_step(const Json& step) {
  const Json& op = step["op"];
  if (op == "schedule") return schedule(step);
  if (op == "cancel") return cancel(step);
  if (op == "advance" || op == "block") return be_busy_(step["ms"]);
  if (op == "checkYield") return record("shouldYield", scheduler_.should_yield(), now());
  if (op == "currentPriority") {
    return record("priority", number_of(scheduler_.current_priority_level()));
  }
  if (op == "now") return record("now", now());
  if (op == "log") return record("log", step["message"]);
  if (op == "throw") throw Thrown{.message = step["message"]};
  if (op == "callWrapped") return call_wrapped(step);
  if (op == "requestPaint") return scheduler_.request_paint();
  if (op == "forceFrameRate") return force_frame_rate(step);
  throw std::logic_error("no such step: " + step.dump());
}

CooperativeInterpreter::Value CooperativeInterpreter::try_body(const Json& step,
                                                               const Context& context) {
  try {
    return run_body(step["body"], context);
  } catch (const Thrown& thrown) {
    record("caught", thrown.message);
  }
  return {};
}

void CooperativeInterpreter::wrap(const Json& step, const Context& context) {
  auto body = [this, &step, context] { static_cast<void>(run_body(step["body"], context)); };
  wrapped_[step["id"]] =
      std::make_shared<std::function<void()>>(scheduler_.wrap_callback(std::move(body)));
}

void CooperativeInterpreter::call_wrapped(const Json& step) {
  const auto found = wrapped_.find(step["id"]);
  if (found == wrapped_.end()) return;
  const auto wrapped = found->second;
  (*wrapped)();
}

void CooperativeInterpreter::force_frame_rate(const Json& step) {
  try {
    scheduler_.force_frame_rate(step["fps"]);
  } catch (const std::invalid_argument&) {
    record("badFrameRate", step["fps"]);
  }
}

}  // namespace heist::test
