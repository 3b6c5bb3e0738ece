// FirstOf: what when_any and race share. The value of one input becomes the value of the promise.
#pragma once

#include <concepts>
#include <heist/detail/combiner.hpp>
#include <type_traits>
#include <utility>
#include <variant>

namespace heist {

/// `other`: the outcome that does not decide while another input may end otherwise.
template <PromiseStatus other, class... Inputs>
struct FirstOf;

/// Values of one type: the value. Of several types: a variant with an alternative for each input.
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

}  // namespace heist
