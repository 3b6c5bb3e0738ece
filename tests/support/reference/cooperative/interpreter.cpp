#include "support/reference/cooperative/interpreter.hpp"

#include "support/reference/cooperative/model.hpp"

namespace heist::reference::cooperative {

void Interpreter::run(Json& scenario) {
  host_.clock = scenario["start"];
  host_.on_message = [this] { on_message(); };
  host_.on_timeout = [this] { scheduler_.on_timeout(); };
  for (const Json& step : scenario["steps"]) {
    try {
      run_at_top(step);
    } catch (const Thrown& thrown) {
      record({"threw", nullptr, thrown.message});
    }
  }
  record({"end", host_.clock});
  host_.trace.push_back({"end", host_.count(true), host_.count(false)});
  scenario["trace"] = trace_;
  scenario["host"] = host_.trace;
}

void Interpreter::on_message() {
  try {
    scheduler_.on_message();
    record({host_.count(true) > 0 ? "yielded" : "idle", host_.clock});
  } catch (const Thrown& thrown) {
    record({"threw", thrown.task, thrown.message});
  }
}

void Interpreter::run_at_top(const Json& step) {
  using Event = Host::Event;
  const std::string op = step["op"];
  if (op == "advance") {
    host_.advance(step["ms"]);
  } else if (op == "block") {
    host_.clock += step["ms"].get<double>();
  } else if (op == "flushHost") {
    if (!host_.deliver([](const Event& event) { return event.timeout == 0; })) {
      record({"nomessage", host_.clock});
    }
  } else if (op == "fireTimeouts") {
    while (host_.deliver(
        [&](const Event& event) { return event.timeout > 0 && event.due <= host_.clock; })) {
    }
  } else if (op == "flushAll") {
    while (host_.deliver([](const Event&) { return true; })) {
    }
  } else {
    run_step(step, {});
  }
}

/// Ends a wrapped body that calls itself for ever.
class Interpreter::Deeper {
 public:
  explicit Deeper(int& depth) : depth_(depth) {
    constexpr int deepest = 60;
    if (depth_ > deepest) throw Endless();
    ++depth_;
  }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  ~Deeper() { --depth_; }

 private:
  int& depth_;
};

Callback Interpreter::run_body(const Json& steps, const Place& place) {
  const Deeper deeper(depth_);
  Callback value;
  for (const Json& step : steps) value = run_step(step, place);
  return value;
}

Callback Interpreter::run_step(const Json& step, const Place& place) {
  constexpr int most = 3000;
  if (++steps_ > most) throw Endless();
  if (step.contains("body")) return run_step_with_body(step, place);
  if (step["op"] == "work") return work(step["units"], step["ms"], place);
  run_step_without_value(step);
  return {};
}

Callback Interpreter::run_step_with_body(const Json& step, const Place& place) {
  const std::string op = step["op"];
  const auto body = [this, &step, place] { return run_body(step["body"], place); };
  if (op == "runWithPriority") return scheduler_.run_with_priority(step["priority"], body);
  if (op == "next") return scheduler_.next(body);
  if (op == "try") {
    try {
      return body();
    } catch (const Thrown& thrown) {
      record({"caught", thrown.message});
    }
  }
  if (op == "continue") {
    return continuation(place,
                        [this, &step](const Place& here) { return run_body(step["body"], here); });
  }
  if (op == "wrap") {
    wrapped_[step["id"]] = [this, body, level = scheduler_.level()] {
      scheduler_.run_at_level(level, body);
    };
  }
  if (op == "schedule") schedule(step);
  return {};
}

void Interpreter::run_step_without_value(const Json& step) {
  const std::string op = step["op"];
  if (op == "throw") throw Thrown{step["message"]};
  if (op == "log") record({"log", step["message"]});
  if (op == "now") record({"now", host_.clock});
  if (op == "advance") host_.clock += step["ms"].get<double>();
  if (op == "checkYield") record({"shouldYield", scheduler_.should_yield(), host_.clock});
  if (op == "currentPriority") record({"priority", scheduler_.level()});
  if (op == "requestPaint") scheduler_.request_paint();
  if (op == "forceFrameRate" && !scheduler_.force_frame_rate(step["fps"])) {
    record({"badFrameRate", step["fps"]});
  }
  if (op == "cancel" && tasks_.contains(step["id"])) Scheduler::cancel(*tasks_[step["id"]]);
  if (op == "callWrapped" && wrapped_.contains(step["id"])) {
    const auto wrapped = wrapped_[step["id"]];
    wrapped();
  }
}

void Interpreter::schedule(const Json& step) {
  const std::string id = step["id"];
  const auto continuations = std::make_shared<int>(0);
  const auto callback = [this, &step, id, continuations](bool did_timeout) {
    record({"run", id, did_timeout, host_.clock});
    try {
      return run_body(step["body"], {id, continuations, did_timeout});
    } catch (Thrown& thrown) {
      thrown.task = id;
      throw;
    }
  };
  tasks_[id] = scheduler_.schedule(step["priority"], {callback}, step.value("delay", 0.0));
}

Callback Interpreter::continuation(const Place& place, std::function<Callback(const Place&)> rest) {
  return {[this, place, rest = std::move(rest)](bool did_timeout) {
    record({"continue", place.id, ++*place.continuations, did_timeout, host_.clock});
    try {
      return rest({place.id, place.continuations, did_timeout});
    } catch (Thrown& thrown) {
      thrown.task = place.id;
      throw;
    }
  }};
}

Callback Interpreter::work(int units, double ms, const Place& place) {
  int done = 0;
  while (units > 0 && (place.late || !scheduler_.should_yield())) {
    host_.clock += ms;
    --units;
    ++done;
  }
  record({"work", place.id, done, units, host_.clock});
  if (units == 0) return {};
  return continuation(place,
                      [this, units, ms](const Place& here) { return work(units, ms, here); });
}

std::optional<Json> judged(Json scenario) try {
  Interpreter().run(scenario);
  return scenario;
} catch (const Endless&) {
  return {};
}

}  // namespace heist::reference::cooperative
