// is_copyable: whether a promise may copy its value, or has to move it out.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <heist/version.hpp>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace HEIST_NAMESPACE {

/// Specialise it as std::true_type or std::false_type for a type for which
/// std::is_copy_constructible gives the wrong answer.
template <class T>
struct Copyable {
  using Deduced = void;
};

}  // namespace HEIST_NAMESPACE

namespace HEIST_NAMESPACE::detail {

/// The types inside a value for which std::is_copy_constructible is no help: containers claim to be
/// copyable whatever they hold.
template <class... Parts>
struct TypeList {};
template <class T>
struct PartsOf : std::type_identity<TypeList<>> {};
template <class T>
  requires requires {
    typename T::allocator_type;
    typename T::value_type;
  }
struct PartsOf<T> : std::type_identity<TypeList<typename T::value_type>> {};
template <class T>  // std::queue and its like
  requires requires {
    typename T::container_type;
    typename T::size_type;
  }
struct PartsOf<T> : std::type_identity<TypeList<typename T::container_type>> {};
template <class T, std::size_t size>
struct PartsOf<std::array<T, size>> : std::type_identity<TypeList<T>> {};
template <class First, class Second>
struct PartsOf<std::pair<First, Second>> : std::type_identity<TypeList<First, Second>> {};
template <class... Elements>
struct PartsOf<std::tuple<Elements...>> : std::type_identity<TypeList<Elements...>> {};
template <class... Alternatives>
struct PartsOf<std::variant<Alternatives...>> : std::type_identity<TypeList<Alternatives...>> {};
template <class T>
struct PartsOf<std::optional<T>> : std::type_identity<TypeList<T>> {};

template <class T, class... Outer>
consteval bool is_copyable_within();

template <class... Outer, class... Parts>
consteval bool are_copyable_within(TypeList<Parts...> /*parts*/) {
  return (is_copyable_within<std::remove_const_t<Parts>, Outer...>() && ...);
}

/// Whether T may be copied as a part of `Outer`. If a type contains itself (JSON), its other parts
/// decide.
template <class T, class... Outer>
consteval bool is_copyable_within() {
  if constexpr ((std::same_as<T, Outer> || ...)) {
    return true;
  } else if constexpr (requires { typename Copyable<T>::Deduced; }) {
    return std::is_copy_constructible_v<T> &&
           are_copyable_within<T, Outer...>(typename PartsOf<T>::type());
  } else {
    return Copyable<T>::value;
  }
}

template <class T>
inline constexpr bool is_copyable = is_copyable_within<std::remove_const_t<T>>();

}  // namespace HEIST_NAMESPACE::detail
