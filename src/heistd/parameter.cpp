#include <array>
#include <charconv>
#include <cmath>
#include <heistd/parameter.hpp>

namespace heistd {
namespace {

std::string shown(double bound) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), bound);
  return {text.data(), end};
}

/// ": 1 to 9", or what of that there is.
std::string bounds_of(const Parameter& parameter) {
  const bool has_least = std::isfinite(parameter.least);
  const bool has_most = std::isfinite(parameter.most);
  if (!has_least && !has_most) return {};
  auto text = ": " + shown(has_least ? parameter.least : parameter.most);
  if (!has_least) text += " or less";
  if (!has_most) text += " or more";
  if (has_least && has_most) text += " to " + shown(parameter.most);
  return text + (parameter.type == ParameterType::text ? " bytes" : "");
}

std::string_view noun_of(ParameterType type) noexcept {
  switch (type) {
    case ParameterType::text:
      return "a text";
    case ParameterType::integer:
      return "a whole number";
    case ParameterType::number:
      return "a number";
    case ParameterType::flag:
      break;
  }
  return "0 or 1";
}

/// What the bounds are for; nothing when the value is not of its type.
std::optional<double> measure(const Parameter& parameter, std::string_view value) {
  switch (parameter.type) {
    case ParameterType::text:
      return static_cast<double>(value.size());
    case ParameterType::integer: {
      const auto whole = parse_number<std::int64_t>(value);
      return whole ? std::optional(static_cast<double>(*whole)) : std::nullopt;
    }
    case ParameterType::number:
      return parse_number<double>(value);
    case ParameterType::flag:
      break;
  }
  return value == "0" || value == "1" ? std::optional(0.0) : std::nullopt;
}

}  // namespace

std::optional<std::string> complaint_about(const Parameter& parameter, std::string_view value) {
  const auto size = measure(parameter, value);
  if (size && std::isfinite(*size) && *size >= parameter.least && *size <= parameter.most) {
    return std::nullopt;
  }
  return "must be " + std::string(noun_of(parameter.type)) + bounds_of(parameter);
}

std::size_t held_bytes(const Parameters& parameters) noexcept {
  constexpr std::size_t added = 64;  // by the map and the allocator, for each
  std::size_t bytes = 0;
  for (const auto& [name, value] : parameters) {
    bytes += sizeof(Parameters::value_type) + name.capacity() + value.capacity() + added;
  }
  return bytes;
}

}  // namespace heistd
