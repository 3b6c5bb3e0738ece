// The numbers of the cooperative priorities (tests/conformance/cooperative/FORMAT.md 2).
#pragma once

#include <cstdint>
#include <heist/cooperative_scheduler.hpp>
#include <optional>

namespace heist::test {

/// Nothing for a number that is none's.
[[nodiscard]] constexpr std::optional<CooperativePriority> priority_of_number(
    double number) noexcept {
  for (std::uint8_t value = 1; value <= 5; ++value) {
    if (number == value) return CooperativePriority{value};
  }
  return {};
}

[[nodiscard]] constexpr int number_of(CooperativePriority priority) noexcept {
  return static_cast<int>(priority);
}

}  // namespace heist::test
