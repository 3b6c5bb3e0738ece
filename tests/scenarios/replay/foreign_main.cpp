// Which scenarios have the same trace when main runs on a foreign thread.
#include <algorithm>
#include <set>

#include "scenarios/replay/replay.hpp"
#include "scenarios/replay/steps.hpp"

namespace heist::test {

namespace {

bool changes_signals(const Json& step) {
  return step["op"] == "abort" || step["op"] == "setPriority" ||
         (step["op"] == "call" && std::ranges::any_of(body_of(step), changes_signals));
}

/// Within main: calls run there and then, listeners when something there changes a signal.
bool may_be_foreign(const Json& steps, bool runs_listeners) {
  static const std::set<std::string> any_thread{"post",   "abort",  "setPriority", "then",
                                                "listen", "create", "read",        "throwIfAborted",
                                                "log",    "call"};
  return std::ranges::all_of(steps, [&](const Json& step) {
    const auto op = text_of(step, "op");
    if (!any_thread.contains(op) || waits(step)) return false;
    const bool runs_here = op == "call" || (op == "listen" && runs_listeners);
    return !runs_here || may_be_foreign(body_of(step), runs_listeners);
  });
}

}  // namespace

bool main_may_be_foreign(const Json& scenario) {
  const Json& main = scenario.at("main");
  return may_be_foreign(main, std::ranges::any_of(main, changes_signals));
}

}  // namespace heist::test
