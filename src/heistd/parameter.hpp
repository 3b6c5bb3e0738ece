// Parameters: what a job was asked for by name, and whether that is what its kind takes.
#pragma once

#include <charconv>
#include <functional>
#include <heist/jobs/parameter.hpp>
#include <heistd/job_failure.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace heistd {

using heist::jobs::Parameter;
using heist::jobs::ParameterType;

/// The parameters of a job by their names, as texts. A job can be made again from these.
using Parameters = std::map<std::string, std::string, std::less<>>;

/// The whole text as a number; nothing when it is none.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) noexcept {
  Number value{};
  const auto* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

/// What is wrong with the type or the size of a value; nothing when they are good.
[[nodiscard]] std::optional<std::string> complaint_about(const Parameter& parameter,
                                                         std::string_view value);

/// The memory that they take.
[[nodiscard]] std::size_t held_bytes(const Parameters& parameters) noexcept;

}  // namespace heistd
