#include <charconv>
#include <cstddef>
#include <heistd/journal/encoded_parameters.hpp>

namespace heistd {
namespace {

std::optional<std::string_view> take_text(std::string_view& text) {
  std::size_t size = 0;
  const auto* const end = text.data() + text.size();
  const auto found = std::from_chars(text.data(), end, size);
  const auto start = static_cast<std::size_t>(found.ptr - text.data()) + 1;
  if (found.ec != std::errc() || start > text.size() || size > text.size() - start) {
    return std::nullopt;
  }
  const auto taken = text.substr(start, size);
  text.remove_prefix(start + size);
  return taken;
}

}  // namespace

std::string encode(const JobParameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    text += std::to_string(name.size()) + ":" + name;
    text += std::to_string(value.size()) + ":" + value;
  }
  return text;
}

std::optional<JobParameters> decode_parameters(std::string_view text) {
  JobParameters parameters;
  while (!text.empty()) {
    const auto name = take_text(text);
    const auto value = take_text(text);
    if (!name || !value) return std::nullopt;
    parameters.emplace_back(*name, *value);
  }
  return parameters;
}

}  // namespace heistd
