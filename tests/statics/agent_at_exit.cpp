// An agent at namespace scope goes on working while the program ends. Rule: LIF-1, LIF-2.
#include <cstdio>
#include <cstdlib>
#include <heist/heist.hpp>

namespace {

using namespace heist;

Agent agent;

/// On the agent: drops a resolver, and tells whether its promise has a reason.
bool resolver_is_dropped_with_a_reason() {
  auto [promise, resolver] = Promise<int>::with_resolver();
  {
    const Resolver<int> dropped(std::move(resolver));
  }
  try {
    static_cast<void>(promise.get());
  } catch (const InvalidStateError&) {
    return true;
  } catch (...) {
  }
  return false;
}

/// Destroyed before the agent, but after main has ended.
struct LastWords {
  ~LastWords() {
    if (agent.scheduler().post_task([] { return resolver_is_dropped_with_a_reason(); }).get())
      return;
    std::fprintf(stderr, "FAILED: a resolver dropped at the end of the program\n");
    std::_Exit(1);
  }
};

const LastWords last_words;

}  // namespace

int main() {}
