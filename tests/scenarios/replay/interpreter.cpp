#include "scenarios/replay/interpreter.hpp"

#include <latch>
#include <stdexcept>

#include "scenarios/replay/broken_scenario.hpp"

namespace heist::test {

namespace {

/// All the time there is: whatever is left after it can never happen.
constexpr auto to_the_end = std::chrono::nanoseconds::max();

}  // namespace

Json Interpreter::run() {
  if (options_.main_thread == MainThread::foreign) {
    run_beside_foreign_main();
  } else {
    loop_.queue_task(TaskSource::user, [this] { run_main(); });
    loop_.advance(to_the_end);
  }
  if (!broken_.empty()) throw BrokenScenario(broken_);
  check_that_nothing_is_left();
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
void Interpreter::run_beside_foreign_main() {
  std::latch is_held(1);
  std::latch main_has_ended(1);
  std::jthread main_thread([&] {
    is_held.wait();
    run_main();
    main_has_ended.count_down();
  });
  loop_.queue_task(TaskSource::user, [&] {
    is_held.count_down();
    main_has_ended.wait();
  });
  loop_.advance(to_the_end);
}

void Interpreter::check_that_nothing_is_left() {
  if (loop_.pending() != 0) throw std::runtime_error("tasks are left");
  for (const auto& [id, promise] : tasks_) {
    if (!promise.settled()) throw std::runtime_error("the promise of " + id + " is pending");
  }
}

Json replay(const Json& scenario, const ReplayOptions& options) {
  return Interpreter(scenario, options).run();
}

}  // namespace heist::test
