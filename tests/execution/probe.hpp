// Probe: a receiver that notes how its operation has ended.
#pragma once

#include <atomic>
#include <exception>

#include "execution/library_under_test.hpp"

namespace heist::execution {

/// How operations have ended, together. Written by the threads on which they end.
struct Ends {
  std::atomic<int> values{0};
  std::atomic<int> errors{0};
  std::atomic<int> stops{0};

  [[nodiscard]] int all() const { return values + errors + stops; }
};

struct NoEnv {};

template <class Env = NoEnv>
struct Probe {
  using receiver_concept = ReceiverTag;
  Ends* ends;
  [[no_unique_address]] Env env = {};

  void set_value() noexcept { ++ends->values; }
  template <class Error>
  void set_error(Error&& /*error*/) noexcept {
    ++ends->errors;
  }
  void set_stopped() noexcept { ++ends->stops; }
  [[nodiscard]] const Env& get_env() const noexcept { return env; }
};
Probe(Ends*) -> Probe<NoEnv>;
template <class Env>
Probe(Ends*, Env) -> Probe<Env>;

/// A receiver that calls a function when its operation completes.
template <class Function, class Env = NoEnv>
struct Calling {
  using receiver_concept = ReceiverTag;
  Function function;
  [[no_unique_address]] Env env = {};

  void set_value() noexcept { function(); }
  void set_error(const std::exception_ptr& /*error*/) noexcept {}
  void set_stopped() noexcept {}
  [[nodiscard]] const Env& get_env() const noexcept { return env; }
};
template <class Function>
Calling(Function) -> Calling<Function>;

}  // namespace heist::execution
