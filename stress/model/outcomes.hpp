// What the executions of a small program come out with, for the engine's own tests.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <string>

#include "engine/engine.hpp"
#include "engine/model.hpp"
#include "exploring.hpp"

namespace heist::model {

inline std::set<std::string> outcomes;

/// One execution's outcome.
inline void note(std::initializer_list<int> values) {
  const Unwatched unwatched;
  std::string line;
  for (const int value : values) line += std::to_string(value);
  outcomes.insert(line);
}

/// All outcomes of a program that does nothing wrong.
inline std::set<std::string> outcomes_of(void (*program)()) {
  outcomes.clear();
  const Outcome outcome = explore(program);
  EXPECT_FALSE(outcome.failure) << *outcome.failure;
  EXPECT_TRUE(outcome.complete);
  return outcomes;
}

}  // namespace heist::model
