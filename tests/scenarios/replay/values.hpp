// Values of the posttask corpus in C++, and as its traces show them
// (tests/conformance/posttask/FORMAT.md 2).
#pragma once

#include <heist/error.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace heist::test {

/// The error a body ends with by its member `throws`.
struct BodyError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A JSON value as an abort reason; `null` is one of its own.
struct PlainReason {
  nlohmann::json value;
};

/// A reason: a value as itself, an exception by its name, a body error by its text.
[[nodiscard]] nlohmann::json shown(const Reason& reason);

}  // namespace heist::test
