// Runs a scenario of the cooperative corpus (tests/conformance/cooperative/FORMAT.md) with the library.
#pragma once

#include <cstdint>
#include <functional>
#include <heist/cooperative_scheduler.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "scenarios/cooperative/replay.hpp"
#include "scenarios/cooperative/virtual_host.hpp"
#include "scenarios/replay/steps.hpp"

namespace heist::test {

/// One run of one scenario. Queues, priorities, slices and continuations are the library's, through its public headers.
class CooperativeInterpreter {
 public:
  /// Precondition: as of replay_cooperative(); and the scenario outlives this.
  explicit CooperativeInterpreter(const Json& scenario);

  /// Errors: std::runtime_error when the scenario does not end.
  [[nodiscard]] CooperativeTraces run();

 private:
  /// What a body's value is: a continuation, or nothing.
  using Value = CooperativeCallback;
  struct Task {
    std::string id;
    int continuations = 0;
  };
  /// What a body knows of the task it is in, if it is in one.
  struct Context {
    std::shared_ptr<Task> task;
    bool late = false;
  };
  /// The exception of the step `throw`.
  struct Thrown {
    Json message;
    Json task = nullptr;  ///< whose callback it left
  };

  // interpreter.cpp
  void run_message();
  void run_top_step(const Json& step);
  [[nodiscard]] bool run_host_step(const Json& step);
  template <class... Parts>
  void record(Parts&&... parts) {
    trace_.push_back(Json::array({Json(std::forward<Parts>(parts))...}));
  }
  [[nodiscard]] Json now() const { return number(scheduler_.now().count()); }

  // steps.cpp
  Value run_body(const Json& steps, const Context& context);
  Value run_step(const Json& step, const Context& context);
  void run_plain_step(const Json& step);
  Value try_body(const Json& step, const Context& context);
  void wrap(const Json& step, const Context& context);
  void call_wrapped(const Json& step);
  void force_frame_rate(const Json& step);

  // tasks.cpp
  void schedule(const Json& step);
  void cancel(const Json& step);
  [[nodiscard]] Value continuation(const Json& step, const Context& context);
  Value work(std::int64_t units, double duration, const Context& context);
  Context continued(const Context& context, const Slice& slice);
  template <class Run>
  Value run_in_task(const Task& task, Run run);

  const Json& scenario_;
  Json trace_ = Json::array();
  VirtualHost host_;
  CooperativeScheduler scheduler_{host_};
  std::map<std::string, CooperativeTask> tasks_;
  /// Shared: one may replace itself while it runs.
  std::map<std::string, std::shared_ptr<std::function<void()>>> wrapped_;
};

}  // namespace heist::test
