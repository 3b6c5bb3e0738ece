// Numbers of traces.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace heist::test {

/// As the corpus writes it: whole numbers without a fraction.
[[nodiscard]] inline nlohmann::json number(double value) {
  constexpr double beyond = 9007199254740992.0;  // 2^53
  const bool is_whole = std::abs(value) < beyond && std::trunc(value) == value;
  return is_whole ? nlohmann::json(static_cast<std::int64_t>(value)) : nlohmann::json(value);
}

}  // namespace heist::test
