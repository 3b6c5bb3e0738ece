#include <chrono>
#include <heist/priority.hpp>
#include <heistd/max_wait_option.hpp>
#include <heistd/time_text.hpp>
#include <optional>
#include <string_view>

namespace heistd {
namespace {

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
  const auto time = parse_time_text(text.substr(sign + 1));
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
