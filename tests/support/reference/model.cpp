#include "support/reference/model.hpp"

#include "support/reference/interpreter.hpp"
#include "support/reference/names.hpp"

namespace heist::reference {

namespace {

Verdict run(const Json& scenario, Notice notice) {
  Interpreter interpreter(notice);
  try {
    interpreter.run(scenario);
  } catch (const Malformed& error) {
    return {interpreter.trace(), error.what()};
  }
  return {interpreter.trace(), interpreter.objection()};
}

}  // namespace

Verdict judge(const Json& scenario) {
  if (!names_what_it_has(scenario)) return {{}, "a name that nothing has"};
  Verdict verdict = run(scenario, Notice::after_the_task);
  if (verdict.is_sound() && run(scenario, Notice::during_the_task).trace != verdict.trace) {
    verdict.objection = "the moment in which the end of a delay is noticed";
  }
  return verdict;
}

}  // namespace heist::reference
