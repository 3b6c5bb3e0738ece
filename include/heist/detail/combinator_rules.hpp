// The rules of when_all, when_any and race: which input decides, and what value that gives.
#pragma once

#include <concepts>
#include <heist/detail/combiner.hpp>
#include <heist/version.hpp>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace HEIST_NAMESPACE::detail {

/// when_all's rule: the first rejection decides. Without a rejection the result has all values, in
/// the order of the inputs.
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
  /// Allocates now, because settling must not need memory (LIF-4).
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

/// `other` is the outcome that does not decide while another input may still end differently.
template <PromiseStatus other, class... Inputs>
struct FirstOf;

/// The result is the value if all inputs have the same type. Otherwise it is a variant with one
/// alternative for each input.
template <PromiseStatus other, class First, class... Rest>
struct FirstOf<other, Promise<First>, Promise<Rest>...> {
  static constexpr bool is_of_one_type = (std::same_as<First, Rest> && ...);
  using Variant = std::variant<CombinedElementType<First>, CombinedElementType<Rest>...>;
  using Result = std::conditional_t<is_of_one_type, First, Variant>;
  using Places = std::array<CombinedInput, 1 + sizeof...(Rest)>;
  static constexpr PromiseStatus unanimous = other;

  static Places places(std::size_t /*count*/) noexcept { return {}; }
  static void make_value(PromiseState<Result>& result, std::span<CombinedInput> inputs,
                         std::size_t decider) {
    if constexpr (is_of_one_type) {
      result.emplace(value_to_keep(source_of<First>(inputs[decider])));
    } else {
      make_alternative<0, First, Rest...>(result, inputs, decider);
    }
  }

 private:
  template <std::size_t place, class T, class... Others>
  static void make_alternative(PromiseState<Result>& result, std::span<CombinedInput> inputs,
                               std::size_t decider) {
    if (place == decider) {
      result.emplace(std::in_place_index<place>, element_of<T>(inputs[place]));
    } else if constexpr (sizeof...(Others) > 0) {
      make_alternative<place + 1, Others...>(result, inputs, decider);
    }
  }
};

template <PromiseStatus other, class T>
struct FirstOf<other, std::vector<Promise<T>>> {
  using Result = T;
  using Places = std::vector<CombinedInput>;
  static constexpr PromiseStatus unanimous = other;

  static Places places(std::size_t count) { return Places(count); }
  static void make_value(PromiseState<Result>& result, std::span<CombinedInput> inputs,
                         std::size_t decider) {
    result.emplace(value_to_keep(source_of<T>(inputs[decider])));
  }
};

template <PromiseStatus other, class... Inputs>
using FirstOfInputs = FirstOf<other, std::remove_cvref_t<Inputs>...>;

/// when_any's rule: the first value decides. Without a value the promise rejects with all reasons,
/// in the order of the inputs.
template <class... Inputs>
using AnyOf = FirstOfInputs<PromiseStatus::rejected, Inputs...>;

/// race's rule: the first input decides, whatever its outcome.
template <class... Inputs>
using RaceOf = FirstOfInputs<PromiseStatus::pending, Inputs...>;

/// A race without inputs would never end.   Errors: std::invalid_argument.
template <class... Inputs>
void refuse_empty_race(const Inputs&... inputs) {
  if (count_inputs(inputs...) == 0) throw std::invalid_argument("race: no promises to wait for");
}

}  // namespace HEIST_NAMESPACE::detail
