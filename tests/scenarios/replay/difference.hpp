// Two traces side by side.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace heist::test {

/// The first event that differs, marked, with the events around it, as lines of two columns; empty
/// when the traces are the same.
[[nodiscard]] std::string difference(const nlohmann::json& expected, const nlohmann::json& actual);

}  // namespace heist::test
