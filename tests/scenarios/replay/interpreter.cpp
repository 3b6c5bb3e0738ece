#include "scenarios/replay/interpreter.hpp"

#include <latch>
#include <stdexcept>

#include "scenarios/replay/broken_scenario.hpp"

namespace heist::test {

Json Interpreter::run() {
  const bool is_foreign = options_.main_thread == MainThread::foreign;
  const bool is_all = is_foreign ? run_beside_foreign_main() : host_->run([this] { run_main(); });
  if (!broken_.empty()) throw BrokenScenario(broken_);
  if (!is_all) throw std::runtime_error("tasks are left");
  check_that_everything_settled();
  return std::move(trace_);
}

void Interpreter::run_main() {
  try {
    for (const Json& signal : scenario_["signals"]) signals_.create(signal);
  } catch (const BrokenScenario& error) {
    broken_ = error.what();
  }
  run_body(scenario_["main"], "main");
}

/// A task holds the loop meanwhile: nothing that main posts has begun when main ends.
bool Interpreter::run_beside_foreign_main() {
  std::latch is_held(1);
  std::latch main_has_ended(1);
  std::jthread main_thread([&] {
    foreign_main_ = std::this_thread::get_id();
    is_held.wait();
    run_main();
    main_has_ended.count_down();
  });
  return host_->run([&] {
    is_held.count_down();
    main_has_ended.wait();
  });
}

void Interpreter::check_that_everything_settled() {
  for (const auto& [id, promise] : tasks_) {
    if (!promise.settled()) throw std::runtime_error("the promise of " + id + " is pending");
  }
}

Json replay(const Json& scenario, const ReplayOptions& options) {
  return Interpreter(scenario, options).run();
}

}  // namespace heist::test
