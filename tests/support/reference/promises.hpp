// Promises: the promises of the reference model (tests/conformance/posttask/FORMAT.md 3.4).
#pragma once

#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "support/reference/agent.hpp"

namespace heist::reference {

/// How a promise has settled. Values and reasons are as traces show them (FORMAT.md 2).
struct Outcome {
  bool is_rejected = false;
  Json value;
};

struct Promise {
  using React = std::function<void(const Outcome&)>;
  struct Reaction {
    SchedulingState state;
    React react;
  };

  bool is_settled = false;
  bool is_locked = false;  ///< it follows another promise
  Outcome outcome;
  std::vector<Reaction> reactions;
};

/// What a callback ends with: a value, an error, or a promise. With a promise, `outcome` says
/// nothing.
struct Completion {
  Completion() = default;
  explicit Completion(Outcome settled) : outcome(std::move(settled)) {}
  explicit Completion(Promise& followed) : promise(&followed) {}

  Outcome outcome;
  Promise* promise = nullptr;
};

class Promises {
 public:
  explicit Promises(Agent& agent) : agent_(agent) {}

  /// Returns a new promise, which lives as long as this object.
  [[nodiscard]] Promise& create() { return all_.emplace_back(); }
  /// Attaches a reaction, which will run with the state that is current now (3.5).
  void attach(Promise& promise, Promise::React react);
  void reject(Promise& promise, const Json& reason) { settle_unlocked(promise, {true, reason}); }
  /// Resolves the promise with a value or another promise, or rejects it with an error.
  void complete(Promise& promise, const Completion& completion);
  [[nodiscard]] bool all_settled() const;

 private:
  void settle_unlocked(Promise& promise, const Outcome& outcome);
  void settle(Promise& promise, const Outcome& outcome);
  void adopt(Promise& promise, Promise& followed);
  void queue_reaction(const Promise::Reaction& reaction, const Outcome& outcome);

  Agent& agent_;
  std::deque<Promise> all_;
};

}  // namespace heist::reference
