#include "model.hpp"

#include <string>

#include "engine.hpp"

namespace heist::model {

void spawn(std::function<void()> body) { Engine::instance().spawn(std::move(body)); }

bool join_all() { return Engine::instance().join_all(); }

void check(bool holds, std::string_view promise) {
  if (!holds) Engine::instance().fail("broken promise: " + std::string(promise));
}

Unwatched::Unwatched() { Engine::instance().watch(false); }
Unwatched::~Unwatched() { Engine::instance().watch(true); }

Operation::Operation(const char* key) : outer_(Engine::instance().enter(key)) {}
Operation::~Operation() { Engine::instance().enter(outer_); }

std::vector<Program>& programs() {
  static std::vector<Program> all;
  return all;
}

}  // namespace heist::model
