// Calls that throw, and what comes of them.
#pragma once

#include <exception>
#include <heist/heist.hpp>
#include <stdexcept>
#include <string>

namespace heist::test {

inline Forkable<> throwing(std::string what) {
  throw std::runtime_error(what);
  co_return;
}

/// What `promise` rejects with.
template <class Result>
std::string what_comes_of(Promise<Result> promise) {
  try {
    promise.get();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace heist::test
