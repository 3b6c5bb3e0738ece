// How files of /proc and /sys are read, and what stands in them.
#pragma once

#include <charconv>
#include <filesystem>
#include <heist/version.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace HEIST_NAMESPACE::detail {

/// The whole text as a number.
template <class Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
  const char* const text_end = text.data() + text.size();
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text_end, number, base);
  if (error != std::errc{} || end != text_end) return std::nullopt;
  return number;
}

/// Splits a text. Two separators in a row have an empty part between them.
/// Errors: std::bad_alloc.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// The lines of a file up to its end, or to where reading fails.   Errors: std::bad_alloc.
[[nodiscard]] std::vector<std::string> lines_of(const std::filesystem::path& file);

/// Empty when the file cannot be read.   Errors: std::bad_alloc.
[[nodiscard]] std::string first_line(const std::filesystem::path& file);

}  // namespace HEIST_NAMESPACE::detail
