#include <algorithm>
#include <charconv>
#include <heistd/limits.hpp>
#include <heistd/query.hpp>
#include <heistd/time_text.hpp>

namespace heistd {
namespace {

std::optional<std::chrono::milliseconds::rep> parse_count(std::string_view text) {
  std::uint64_t value = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value > std::numeric_limits<std::int64_t>::max()) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace

std::optional<std::string> QueryReader::text(std::string_view name) {
  known_.emplace_back(name);
  std::optional<std::string> found;
  for (const auto& [key, value] : query_) {
    if (key != name) continue;
    if (found) refuse(bad_parameter(name, "the parameter is given twice"));
    found = value;
  }
  return found;
}

std::optional<heist::TaskPriority> QueryReader::priority(std::string_view name) {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto priority = heist::parse_task_priority(*value);
  if (!priority) {
    refuse(bad_parameter(name, "must be background, user-visible or user-blocking"));
  }
  return priority;
}

std::chrono::milliseconds QueryReader::duration(std::string_view name,
                                                std::chrono::milliseconds most) {
  const auto value = text(name);
  if (!value) return {};
  const auto count = parse_count(*value);
  if (count && *count <= most.count()) return std::chrono::milliseconds(*count);
  refuse(
      bad_parameter(name, "must be whole milliseconds from 0 to " + std::to_string(most.count())));
  return {};
}

std::optional<std::chrono::milliseconds> QueryReader::limit(std::string_view name,
                                                            std::chrono::milliseconds most) {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto count = parse_count(*value);
  if (count && *count >= 1 && *count <= most.count()) return std::chrono::milliseconds(*count);
  refuse(
      bad_parameter(name, "must be whole milliseconds from 1 to " + std::to_string(most.count())));
  return std::nullopt;
}

std::optional<std::uint32_t> QueryReader::count(std::string_view name, std::uint32_t most) {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto count = parse_count(*value);
  if (count && *count >= 1 && *count <= most) return static_cast<std::uint32_t>(*count);
  refuse(bad_parameter(name, "must be a whole number from 1 to " + std::to_string(most)));
  return std::nullopt;
}

Patience QueryReader::patience(std::string_view name) {
  const auto value = text(name);
  if (!value || *value == "0") return {};
  if (*value == "1") return Patience{.most = std::nullopt};
  const auto time = parse_time_text(*value);
  if (!time) {
    refuse(bad_parameter(name, "must be 0, 1, or a time from 1ms to 60m, such as 30s"));
  }
  return Patience{.most = time.value_or(std::chrono::milliseconds())};
}

std::vector<std::string> QueryReader::unread() const {
  std::vector<std::string> names;
  for (const auto& [key, value] : query_) {
    const bool is_empty = key.empty() && value.empty();  // as in "?" and "a=1&"
    if (!is_empty && std::ranges::find(known_, key) == known_.end()) names.push_back(key);
  }
  return names;
}

void QueryReader::refuse(Refusal refusal) {
  if (!refusal_) refusal_ = std::move(refusal);
}

std::optional<Refusal> QueryReader::finish() {
  for (const auto& name : unread()) {
    refuse(bad_parameter(name, "the parameter is not known here"));
  }
  return std::move(refusal_);
}

bool is_name(std::string_view text) noexcept {
  static constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !text.empty() && text.size() <= max_signal_name_bytes &&
         text.find_first_not_of(allowed) == std::string_view::npos;
}

}  // namespace heistd
