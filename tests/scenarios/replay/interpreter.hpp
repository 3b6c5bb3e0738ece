// Runs a scenario of the posttask corpus (tests/conformance/posttask/FORMAT.md) with the library.
#pragma once

#include <heist/heist.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "scenarios/replay/host.hpp"
#include "scenarios/replay/replay.hpp"
#include "scenarios/replay/signals.hpp"
#include "scenarios/replay/steps.hpp"

namespace heist::test {

/// One run of one scenario. Promises, microtasks, queues, timers and continuations are the
/// library's, through its public headers; there are none in here.
///
/// Thread: the steps run on the host's, and no other thread looks meanwhile. A foreign main runs
///         while that is held.
class Interpreter {
 public:
  /// Precondition: check_format() takes the scenario, and it outlives this.
  Interpreter(const Json& scenario, const ReplayOptions& options)
      : scenario_(scenario), options_(options) {}

  /// The trace.   Errors: BrokenScenario; std::runtime_error when something is left over at the
  /// end.
  [[nodiscard]] Json run();

 private:
  /// An asynchronous body. What a post's gives follows from its step; errors of others are
  /// recorded.
  struct Body {
    const Json* steps;
    std::string label;
    const Json* post = nullptr;
    bool is_awaited = false;
  };
  /// How what a body waited for has ended.
  struct Outcome {
    Json value;
    Reason reason;
  };

  // interpreter.cpp
  void run_main();
  [[nodiscard]] bool run_beside_foreign_main();
  void check_that_everything_settled();
  template <class... Parts>
  void record(Parts&&... parts) {
    trace_.push_back(Json::array({Json(std::forward<Parts>(parts))...}));
  }

  // bodies.cpp
  void run_body(const Json& steps, const std::string& label);
  void run_steps(const Json& steps);
  [[nodiscard]] Promise<Json> run_asynchronous(Body body);
  [[nodiscard]] Promise<Json> awaited_by(const Json& step);
  void end_waiting(const Json& step, const Body& body, int yields, const Outcome& outcome);
  void record_failure(const std::string& label);

  // posts.cpp
  void post(const Json& step);
  [[nodiscard]] Promise<Json> post_task(const Json& step);
  [[nodiscard]] Json run_plain(const Json& step);
  [[nodiscard]] PostTaskOptions options_of(const Json& step);
  [[nodiscard]] const Promise<Json>& task(const std::string& id);
  void then(const Json& step);
  template <class OnFulfilled, class OnRejected>
  void attach(const Promise<Json>& promise, OnFulfilled on_fulfilled, OnRejected on_rejected);

  // actions.cpp
  void run_step(const Json& step);
  void abort(const Json& step);
  void set_priority(const Json& step);
  void call(const Json& step);
  void microtask(const Json& step);
  void timer(const Json& step);
  void create(const Json& step);
  void read(const Json& step);
  void throw_if_aborted(const Json& step);
  void log(const Json& step);
  void spin(const Json& step);
  [[nodiscard]] NamedSignal& signal_of(const Json& step);
  auto labelled(const char* event, const Json& step);

  // listeners.cpp
  void listen(const Json& step);
  void listen_to_abort(const Json& step);
  void listen_to_priority_change(const Json& step);
  void heard(const Json& step, Json event);

  const Json& scenario_;
  ReplayOptions options_;
  Json trace_ = Json::array();
  std::string broken_;  ///< why the scenario is; bodies would take an exception for theirs
  std::map<std::string, Promise<Json>> tasks_;
  std::vector<Subscription> subscriptions_;
  std::unique_ptr<Host> host_ = make_host(options_);
  Scheduler scheduler_ = host_->scheduler();
  Signals signals_{scheduler_};
  std::thread::id foreign_main_;  ///< the thread, if there is one
};

}  // namespace heist::test
