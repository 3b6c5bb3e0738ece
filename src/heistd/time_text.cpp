#include <charconv>
#include <cstdint>
#include <heistd/time_text.hpp>
#include <system_error>

namespace heistd {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds most_time = std::chrono::hours(1);

std::optional<milliseconds> parse_unit(std::string_view unit) noexcept {
  if (unit == "ms") return milliseconds(1);
  if (unit == "s") return std::chrono::seconds(1);
  if (unit == "m") return std::chrono::minutes(1);
  return std::nullopt;
}

}  // namespace

std::optional<milliseconds> parse_time_text(std::string_view text) noexcept {
  std::uint32_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || count == 0) return std::nullopt;
  const auto unit = parse_unit({rest, end});
  if (!unit || count > most_time / *unit) return std::nullopt;
  return count * *unit;
}

}  // namespace heistd
