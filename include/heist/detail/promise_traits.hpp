// What callbacks return: whether it is a promise or a call to run, and what that settles with.
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

/// What a Promise of a callback's result settles with: promises are flattened once.
template <class T>
struct Settled {
  using type = T;
};
template <class T>
struct Settled<Promise<T>> {
  using type = T;
};
/// A task that returns one settles with its result.
template <class T>
struct Settled<Forkable<T>> {
  using type = T;
};
template <class T>
using SettledType = typename Settled<T>::type;

}  // namespace HEIST_NAMESPACE::detail
