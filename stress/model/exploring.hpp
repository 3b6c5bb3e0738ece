// What the engine's tests explore programs with.
#pragma once

#include <optional>
#include <string>

#include "engine/engine.hpp"

namespace heist::model {

inline Outcome explore(void (*program)(), std::optional<int> bound = std::nullopt) {
  Plan plan;
  plan.search.preemptions = bound;
  return Engine::instance().explore(program, plan);
}

inline std::string failure_of(void (*program)()) {
  return explore(program).failure.value_or("holds");
}

}  // namespace heist::model
