#include "scenarios/replay/signals.hpp"

#include <utility>

#include "scenarios/replay/broken_scenario.hpp"
#include "scenarios/replay/steps.hpp"
#include "scenarios/replay/values.hpp"

namespace heist::test {

using namespace detail;

namespace {

NamedSignal make_task(const Json& definition) {
  const auto controller =
      definition.contains("priority") ? TaskController(priority_of(definition)) : TaskController();
  return {controller.signal(), controller.signal(), controller, controller};
}

AbortSignal make_aborted(const Json& definition) {
  if (!definition.contains("reason")) return AbortSignal::abort();
  return AbortSignal::abort(PlainReason{definition["reason"]});
}

}  // namespace

void Signals::create(const Json& definition) {
  const auto name = text_of(definition, "name");
  if (!signals_.emplace(name, make(definition)).second) {
    throw BrokenScenario("there are two signals " + name);
  }
}

NamedSignal& Signals::at(const std::string& name) {
  const auto found = signals_.find(name);
  if (found == signals_.end()) throw BrokenScenario("there is no signal " + name + " yet");
  return found->second;
}

NamedSignal Signals::make(const Json& definition) {
  const auto kind = text_of(definition, "kind");
  if (kind == "task") return make_task(definition);
  if (kind == "aborted") return {make_aborted(definition)};
  if (kind == "timeout") return {AbortSignal::timeout(scheduler_, time_of(definition, "ms"))};
  if (kind == "abort-any") return {AbortSignal::any(sources_of(definition))};
  if (kind == "task-any") return make_task_any(definition);
  const AbortController controller;
  return {controller.signal(), {}, controller};
}

NamedSignal Signals::make_task_any(const Json& definition) {
  const auto sources = sources_of(definition);
  const auto with = [&](auto&&... priority) {
    const auto signal = TaskSignal::any(sources, priority...);
    return NamedSignal{signal, signal};
  };
  if (!definition.contains("priority")) return with();
  if (definition["priority"].is_string()) return with(priority_of(definition));
  return with(at(text_of(definition["priority"], "signal")).task_signal.value());
}

std::vector<AbortSignal> Signals::sources_of(const Json& definition) {
  std::vector<AbortSignal> sources;
  for (const Json& name : definition["of"]) sources.push_back(at(name.get<std::string>()).signal);
  return sources;
}

}  // namespace heist::test
