// when_any: one promise for several, fulfilled as soon as one of them is.
#pragma once

#include <heist/detail/first_of.hpp>
#include <heist/promise.hpp>

namespace heist {

/// when_any's rule: the first value decides; without one, all reasons in the order of the inputs.
template <class... Inputs>
using AnyOf = FirstOfInputs<PromiseStatus::rejected, Inputs...>;

/// Fulfils as the first input that fulfils. When all reject, or there are none, it rejects with an
/// AggregateError that has their reasons in the order of the inputs.
///
/// Takes promises, or a vector of promises. Promises of one type give its value; of several types,
/// a `std::variant` with an alternative for each input in their order, so that index() tells which
/// one it was. There a `void` stands as `std::monostate`, a `T&` as `std::reference_wrapper<T>`.
/// Promises of move-only values are passed as rvalues; the value of the one that decides is moved
/// out.
///
/// Spec:   [ecma262#sec-promise.any], and as many microtasks: settles in the reaction to the first
///         value, or to the last rejection.
/// Thread: an agent (plain threads: with a scheduler first).   Blocks: never.
/// Errors: NotAllowedError off an agent; std::bad_alloc. The inputs are then untouched. No memory
///         for the AggregateError: rejects with std::bad_alloc.
/// Cost:   one allocation; of a vector two. O(inputs).
/// Lifetime: as when_all. An input that stays pending keeps a few hundred bytes, also when the
///         result is gone: let what lives long abort through a signal.
template <class... Inputs>
  requires CombinableSome<Inputs...>
Promise<typename AnyOf<Inputs...>::Result> when_any(Inputs&&... inputs) {
  return combine<AnyOf<Inputs...>>(nullptr, std::forward<Inputs>(inputs)...);
}

/// The same, on the agent of `scheduler`. Thread: any.
template <class... Inputs>
  requires CombinableSome<Inputs...>
Promise<typename AnyOf<Inputs...>::Result> when_any(const Scheduler& scheduler,
                                                    Inputs&&... inputs) {
  return combine<AnyOf<Inputs...>>(&scheduler, std::forward<Inputs>(inputs)...);
}

}  // namespace heist
