#include <charconv>
#include <chrono>
#include <cstdint>
#include <heist/priority.hpp>
#include <heistd/max_wait_option.hpp>
#include <optional>
#include <string_view>
#include <system_error>

namespace heistd {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds most = std::chrono::hours(1);

std::optional<milliseconds> parse_unit(std::string_view unit) {
  if (unit == "ms") return milliseconds(1);
  if (unit == "s") return std::chrono::seconds(1);
  if (unit == "m") return std::chrono::minutes(1);
  return std::nullopt;
}

/// Nothing: no such time, or one that is out of range.
std::optional<milliseconds> parse_time(std::string_view text) {
  std::uint32_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || count == 0) return std::nullopt;
  const auto unit = parse_unit({rest, end});
  if (!unit || count > most / *unit) return std::nullopt;
  return count * *unit;
}

std::chrono::nanoseconds& maximum_of(heist::MaxWait& wait, heist::TaskPriority priority) {
  switch (priority) {
    case heist::TaskPriority::background:
      return wait.background;
    case heist::TaskPriority::user_visible:
      return wait.user_visible;
    case heist::TaskPriority::user_blocking:
      break;
  }
  return wait.user_blocking;
}

/// What is wrong with it, or nothing.
std::optional<std::string> read_one(std::string_view text, heist::MaxWait& wait) {
  const auto sign = text.find('=');
  if (sign == std::string_view::npos) return "there is no = in it";
  const auto name = text.substr(0, sign);
  const auto priority = heist::parse_task_priority(name);
  if (!priority) {
    return "no priority is called \"" + std::string(name) +
           "\"; there are background, user-visible and user-blocking";
  }
  auto& maximum = maximum_of(wait, *priority);
  if (maximum != maximum.zero()) return std::string(name) + " has a maximum already";
  const auto time = parse_time(text.substr(sign + 1));
  if (!time) {
    return "\"" + std::string(text.substr(sign + 1)) +
           "\" is no time from 1ms to 60m: a whole number with ms, s or m";
  }
  maximum = *time;
  return std::nullopt;
}

}  // namespace

std::variant<heist::MaxWait, std::string> parse_max_wait(const std::vector<std::string>& texts) {
  heist::MaxWait wait;
  for (const auto& text : texts) {
    if (const auto error = read_one(text, wait)) return "\"" + text + "\": " + *error;
  }
  return wait;
}

}  // namespace heistd
