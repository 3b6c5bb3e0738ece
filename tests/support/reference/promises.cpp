#include "support/reference/promises.hpp"

#include <algorithm>
#include <utility>

namespace heist::reference {

void Promises::attach(Promise& promise, Promise::React react) {
  const Promise::Reaction reaction{agent_.current_state(), std::move(react)};
  if (promise.is_settled) return queue_reaction(reaction, promise.outcome);
  promise.reactions.push_back(reaction);
}

void Promises::complete(Promise& promise, const Completion& completion) {
  if (completion.promise != nullptr) return adopt(promise, *completion.promise);
  settle_unlocked(promise, completion.outcome);
}

bool Promises::all_settled() const { return std::ranges::all_of(all_, &Promise::is_settled); }

void Promises::settle_unlocked(Promise& promise, const Outcome& outcome) {
  if (!promise.is_locked) settle(promise, outcome);
}

void Promises::settle(Promise& promise, const Outcome& outcome) {
  if (promise.is_settled) return;
  promise.is_settled = true;
  promise.outcome = outcome;
  for (const auto& reaction : std::exchange(promise.reactions, {})) {
    queue_reaction(reaction, outcome);
  }
}

/// The microtask and the reaction that it attaches are J1 and J2 of FORMAT.md 3.4. So adoption
/// takes two microtasks more than a value does, even if the other promise has settled.
void Promises::adopt(Promise& promise, Promise& followed) {
  if (promise.is_settled || promise.is_locked) return;
  promise.is_locked = true;
  agent_.queue_microtask(agent_.current_state(), [this, &promise, &followed] {
    attach(followed, [this, &promise](const Outcome& outcome) { settle(promise, outcome); });
  });
}

void Promises::queue_reaction(const Promise::Reaction& reaction, const Outcome& outcome) {
  agent_.queue_microtask(reaction.state, [react = reaction.react, outcome] { react(outcome); });
}

}  // namespace heist::reference
