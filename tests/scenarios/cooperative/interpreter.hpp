// Runs the steps of a scenario of the cooperative corpus (tests/conformance/cooperative/FORMAT.md 3
// to 5) with the library.
#pragma once

#include <cstdint>
#include <functional>
#include <heist/cooperative_scheduler.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "scenarios/cooperative/number.hpp"
#include "scenarios/replay/steps.hpp"

namespace heist::test {

/// Runs steps. Queues, priorities, slices and continuations are the library's, through its public
/// headers.
class CooperativeInterpreter {
 public:
  /// The exception of the step `throw`.
  struct Thrown {
    Json message;
    Json task = nullptr;  ///< whose callback it left
  };
  /// The running code takes so many milliseconds.
  using BeBusy = std::function<void(double)>;

  /// Lifetime: as the tasks that it schedules; the steps live as long.
  CooperativeInterpreter(CooperativeScheduler scheduler, BeBusy be_busy)
      : scheduler_(std::move(scheduler)), be_busy_(std::move(be_busy)) {}

  /// A step at top level, but none of those that are only there, nor `advance`.
  void run_top_step(const Json& step);
  template <class... Parts>
  void record(Parts&&... parts) {
    trace_.push_back(Json::array({Json(std::forward<Parts>(parts))...}));
  }
  [[nodiscard]] Json now() const { return number(scheduler_.now().count()); }
  [[nodiscard]] Json take_trace() { return std::move(trace_); }

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

  CooperativeScheduler scheduler_;
  BeBusy be_busy_;
  Json trace_ = Json::array();
  std::map<std::string, CooperativeTask> tasks_;
  /// Shared: one may replace itself while it runs.
  std::map<std::string, std::shared_ptr<std::function<void()>>> wrapped_;
};

}  // namespace heist::test
