// SenderValue: the one type that a promise of a sender's completion has.
#pragma once

#include <heist/execution/library.hpp>
#include <tuple>
#include <type_traits>

namespace HEIST_NAMESPACE::execution {

/// The value of a promise for these values: nothing, the value, or a tuple.
template <class... Values>
struct PromisedValues {
  using type = std::tuple<std::decay_t<Values>...>;
};
template <>
struct PromisedValues<> {
  using type = void;
};
template <class Value>
struct PromisedValues<Value> {
  using type = std::decay_t<Value>;
};

/// Stands for a completion without values.
struct NoValues;

template <class Signature>
struct ValuesOfSignature {
  using type = NoValues;
};
template <class... Values>
struct ValuesOfSignature<ex::set_value_t(Values...)> : PromisedValues<Values...> {};

template <class One, class Other>
struct EitherValues {
  static_assert(std::is_same_v<One, Other>,
                "a promise has one type: this sender completes with different values");
  using type = One;
};
template <class Other>
struct EitherValues<NoValues, Other> {
  using type = Other;
};
template <class One>
struct EitherValues<One, NoValues> {
  using type = One;
};
template <>
struct EitherValues<NoValues, NoValues> {
  using type = NoValues;
};

template <class Signatures>
struct ValuesOf;
template <>
struct ValuesOf<ex::completion_signatures<>> {
  using type = NoValues;
};
template <class First, class... Rest>
struct ValuesOf<ex::completion_signatures<First, Rest...>>
    : EitherValues<typename ValuesOfSignature<First>::type,
                   typename ValuesOf<ex::completion_signatures<Rest...>>::type> {};

/// What a promise of the sender's completion has; void for one that never completes with a value.
template <class Sender, class Env>
using SenderValue = std::conditional_t<
    std::is_same_v<typename ValuesOf<ex::completion_signatures_of_t<Sender, Env>>::type, NoValues>,
    void, typename ValuesOf<ex::completion_signatures_of_t<Sender, Env>>::type>;

}  // namespace HEIST_NAMESPACE::execution
