// Traits of what callbacks return: whether it is a promise or a Forkable, and the type that it
// settles with.
#pragma once

#include <heist/detail/forward.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

template <class T>
inline constexpr bool is_promise = false;
template <class T>
inline constexpr bool is_promise<Promise<T>> = true;

template <class T>
inline constexpr bool is_forkable = false;
template <class T>
inline constexpr bool is_forkable<Forkable<T>> = true;

/// The type that the promise for a callback's result settles with. Promises are flattened once.
template <class T>
struct Settled {
  using type = T;
};
template <class T>
struct Settled<Promise<T>> {
  using type = T;
};
/// A task that returns a Forkable settles with its result.
template <class T>
struct Settled<Forkable<T>> {
  using type = T;
};
template <class T>
using SettledType = typename Settled<T>::type;

}  // namespace HEIST_NAMESPACE::detail
