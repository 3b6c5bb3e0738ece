// when_all: one promise for several, fulfilled once all of them are.
#pragma once

#include <heist/detail/combiner.hpp>
#include <heist/promise.hpp>
#include <tuple>

namespace heist {

/// when_all's rule: the first rejection decides; without one, all values in the order of the
/// inputs.
template <class... Inputs>
struct AllOf;

template <class... Ts>
struct AllOf<Promise<Ts>...> {
  using Result = std::tuple<CombinedElementType<Ts>...>;
  using Places = std::array<CombinedInput, sizeof...(Ts)>;
  static constexpr PromiseStatus unanimous = PromiseStatus::fulfilled;

  static Places places(std::size_t /*count*/) noexcept { return {}; }
  static void make_value(PromiseState<Result>& result,
                         [[maybe_unused]] std::span<CombinedInput> inputs,
                         std::size_t /*decider*/) {
    [&]<std::size_t... place>(std::index_sequence<place...>) {
      result.emplace(element_of<Ts>(inputs[place])...);
    }(std::index_sequence_for<Ts...>());
  }
};

template <class T>
struct AllOf<std::vector<Promise<T>>> {
  using Result = std::conditional_t<std::is_void_v<T>, void, std::vector<CombinedElementType<T>>>;
  using Places = std::vector<CombinedInput>;
  static constexpr PromiseStatus unanimous = PromiseStatus::fulfilled;

  static Places places(std::size_t count) { return Places(count); }
  /// Settling is to need no memory (LIF-4).
  static void prepare(PromiseState<Result>& result, std::size_t count) {
    result.emplace();
    if constexpr (!std::is_void_v<T>) result.value().reserve(count);
  }
  static void make_value(PromiseState<Result>& result, std::span<CombinedInput> inputs,
                         std::size_t /*decider*/) {
    if constexpr (!std::is_void_v<T>) {
      for (auto& input : inputs) result.value().push_back(element_of<T>(input));
    }
  }
};

template <class... Inputs>
using AllOfResult = typename AllOf<std::remove_cvref_t<Inputs>...>::Result;

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
  requires Combinable<Inputs...>
Promise<AllOfResult<Inputs...>> when_all(Inputs&&... inputs) {
  return combine<AllOf<std::remove_cvref_t<Inputs>...>>(nullptr, std::forward<Inputs>(inputs)...);
}

/// The same, on the agent of `scheduler`. Thread: any.
template <class... Inputs>
  requires Combinable<Inputs...>
Promise<AllOfResult<Inputs...>> when_all(const Scheduler& scheduler, Inputs&&... inputs) {
  return combine<AllOf<std::remove_cvref_t<Inputs>...>>(&scheduler,
                                                        std::forward<Inputs>(inputs)...);
}

}  // namespace heist
