// when_all, when_any, race: one promise for several.
#pragma once

#include <heist/detail/combinator_rules.hpp>
#include <heist/detail/combiner.hpp>
#include <heist/promise.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE {

/// Fulfils once all inputs have, with their values in the order of the inputs; rejects as the first
/// one that rejects, with the same reason. Without inputs it is fulfilled at once.
///
/// Takes promises, and gives a `std::tuple`, or a vector of promises, and gives a `std::vector` (of
/// `Promise<void>`: void). A `void` stands as `std::monostate`, a `T&` as
/// `std::reference_wrapper<T>`. Promises of move-only values are passed as rvalues; their values
/// are moved out when all are there.
///
/// Spec:   [ecma262#sec-promise.all], and as many microtasks: settles in the reaction to the last
///         input, or to the first rejection.
/// Thread: an agent (plain threads: with a scheduler first).   Blocks: never.
/// Errors: NotAllowedError off an agent; std::bad_alloc. The inputs are then untouched.
/// Cost:   one allocation; of a vector three. O(inputs).
/// Lifetime: rejections of the inputs count as observed. Dropping the result cancels nothing. When
///         the agent's loop is closed, it rejects with InvalidStateError as soon as an input
///         settles (LIF-1).
template <class... Inputs>
  requires detail::Combinable<Inputs...>
Promise<detail::AllOfResult<Inputs...>> when_all(Inputs&&... inputs) {
  return detail::combine<detail::AllOf<std::remove_cvref_t<Inputs>...>>(
      nullptr, std::forward<Inputs>(inputs)...);
}

/// The same, on the agent of `scheduler`. Thread: any.
template <class... Inputs>
  requires detail::Combinable<Inputs...>
Promise<detail::AllOfResult<Inputs...>> when_all(const Scheduler& scheduler, Inputs&&... inputs) {
  return detail::combine<detail::AllOf<std::remove_cvref_t<Inputs>...>>(
      &scheduler, std::forward<Inputs>(inputs)...);
}

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
  requires detail::CombinableSome<Inputs...>
Promise<typename detail::AnyOf<Inputs...>::Result> when_any(Inputs&&... inputs) {
  return detail::combine<detail::AnyOf<Inputs...>>(nullptr, std::forward<Inputs>(inputs)...);
}

/// The same, on the agent of `scheduler`. Thread: any.
template <class... Inputs>
  requires detail::CombinableSome<Inputs...>
Promise<typename detail::AnyOf<Inputs...>::Result> when_any(const Scheduler& scheduler,
                                                            Inputs&&... inputs) {
  return detail::combine<detail::AnyOf<Inputs...>>(&scheduler, std::forward<Inputs>(inputs)...);
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
  requires detail::CombinableSome<Inputs...>
Promise<typename detail::RaceOf<Inputs...>::Result> race(Inputs&&... inputs) {
  detail::refuse_empty_race(inputs...);
  return detail::combine<detail::RaceOf<Inputs...>>(nullptr, std::forward<Inputs>(inputs)...);
}

/// The same, on the agent of `scheduler`. Thread: any.
template <class... Inputs>
  requires detail::CombinableSome<Inputs...>
Promise<typename detail::RaceOf<Inputs...>::Result> race(const Scheduler& scheduler,
                                                         Inputs&&... inputs) {
  detail::refuse_empty_race(inputs...);
  return detail::combine<detail::RaceOf<Inputs...>>(&scheduler, std::forward<Inputs>(inputs)...);
}

}  // namespace HEIST_NAMESPACE
