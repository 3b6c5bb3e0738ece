// Interpreter: runs a scenario on the cooperative reference model
// (tests/conformance/cooperative/FORMAT.md 3 to 5).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "support/reference/cooperative/scheduler.hpp"

namespace heist::reference::cooperative {

/// Thrown when a scenario takes so many steps, or goes so deep, that it may never end.
struct Endless {};

class Interpreter {
 public:
  /// Runs the scenario, and writes its `trace` and `host`.   Errors: Endless.
  void run(Json& scenario);

 private:
  /// What a body knows of the task in which it runs.
  struct Place {
    std::string id;
    std::shared_ptr<int> continuations;
    bool late = false;
  };
  struct Thrown {
    Json message;
    Json task = nullptr;
  };

  class Deeper;

  void on_message();
  void run_at_top(const Json& step);
  Callback run_body(const Json& steps, const Place& place);
  Callback run_step(const Json& step, const Place& place);
  Callback run_step_with_body(const Json& step, const Place& place);
  void run_step_without_value(const Json& step);
  Callback work(int units, double ms, const Place& place);
  Callback continuation(const Place& place, std::function<Callback(const Place&)> rest);
  void schedule(const Json& step);
  void record(Json event) { trace_.push_back(std::move(event)); }

  Host host_;
  Scheduler scheduler_{host_};
  Json trace_ = Json::array();
  int steps_ = 0;
  int depth_ = 0;
  std::map<std::string, TaskPointer> tasks_;
  std::map<std::string, std::function<void()>> wrapped_;
};

}  // namespace heist::reference::cooperative
