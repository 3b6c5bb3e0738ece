// race: one promise for several, settled as the first of them that settles.
#pragma once

#include <heist/detail/first_of.hpp>
#include <heist/promise.hpp>
#include <stdexcept>

namespace heist {

/// race's rule: the first input decides, whatever its outcome.
template <class... Inputs>
using RaceOf = FirstOfInputs<PromiseStatus::pending, Inputs...>;

/// A race without inputs would never end.   Errors: std::invalid_argument.
template <class... Inputs>
void refuse_empty_race(const Inputs&... inputs) {
  if (count_inputs(inputs...) == 0) throw std::invalid_argument("race: no promises to wait for");
}

/// Settles as the first input that settles, by value or by reason. Its inputs, its value, its
/// lifetime: as when_any.
///
/// Spec:   [ecma262#sec-promise.race], and as many microtasks: settles in the reaction to the first
///         input. Differs: without inputs it is refused, instead of pending for ever.
/// Thread: an agent (plain threads: with a scheduler first).   Blocks: never.
/// Errors: NotAllowedError off an agent; std::bad_alloc; std::invalid_argument for an empty vector.
///         The inputs are then untouched.
/// Cost:   one allocation; of a vector two. O(inputs).
template <class... Inputs>
  requires CombinableSome<Inputs...>
Promise<typename RaceOf<Inputs...>::Result> race(Inputs&&... inputs) {
  refuse_empty_race(inputs...);
  return combine<RaceOf<Inputs...>>(nullptr, std::forward<Inputs>(inputs)...);
}

/// The same, on the agent of `scheduler`. Thread: any.
template <class... Inputs>
  requires CombinableSome<Inputs...>
Promise<typename RaceOf<Inputs...>::Result> race(const Scheduler& scheduler, Inputs&&... inputs) {
  refuse_empty_race(inputs...);
  return combine<RaceOf<Inputs...>>(&scheduler, std::forward<Inputs>(inputs)...);
}

}  // namespace heist
