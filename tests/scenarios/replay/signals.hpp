// The signals of a running scenario (tests/conformance/posttask/FORMAT.md 4), by name.
#pragma once

#include <heist/scheduler.hpp>
#include <heist/task_signal.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace heist::test {

using namespace detail;

/// A signal, with what its kind has.
struct NamedSignal {
  AbortSignal signal;
  std::optional<TaskSignal> task_signal = {};
  std::optional<AbortController> controller = {};
  std::optional<TaskController> task_controller = {};
};

/// Makes signals from their definitions and keeps them to the end.
class Signals {
 public:
  /// The timeouts of signals are the scheduler's.
  explicit Signals(Scheduler scheduler) : scheduler_(std::move(scheduler)) {}

  /// Errors: BrokenScenario when there is one of that name, or when it depends on one that is
  ///         missing.
  void create(const nlohmann::json& definition);
  /// The signal of that name.   Errors: BrokenScenario.
  [[nodiscard]] NamedSignal& at(const std::string& name);

 private:
  NamedSignal make(const nlohmann::json& definition);
  NamedSignal make_task_any(const nlohmann::json& definition);
  [[nodiscard]] std::vector<AbortSignal> sources_of(const nlohmann::json& definition);

  Scheduler scheduler_;
  std::map<std::string, NamedSignal> signals_;
};

}  // namespace heist::test
