#include <algorithm>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <charconv>
#include <heistd/client_limits.hpp>
#include <optional>
#include <set>
#include <vector>

namespace heistd {
namespace {

std::optional<std::uint32_t> number_of(std::string_view text, std::uint32_t most) {
  std::uint32_t number = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const bool is_right = error == std::errc() && rest == end && number >= 1 && number <= most;
  return is_right ? std::optional(number) : std::nullopt;
}

std::string must_be(std::string_view what, std::uint32_t most, std::string_view more = {}) {
  return std::string(what) + " must be a whole number from 1 to " + std::to_string(most) +
         std::string(more);
}

std::optional<std::string> read_rate(std::string_view text, ClientLimits& limits) {
  const auto slash = text.find('/');
  const auto unit = slash == std::string_view::npos ? "s" : text.substr(slash + 1);
  const auto rate = number_of(text.substr(0, slash), ClientLimits::most_rate);
  if (!rate || (unit != "s" && unit != "m" && unit != "h")) {
    return must_be("rate", ClientLimits::most_rate, ", and /s, /m or /h may follow it");
  }
  limits.rate = *rate;
  limits.per = std::chrono::seconds(unit == "s" ? 1 : unit == "m" ? 60 : 3600);
  return std::nullopt;
}

std::optional<std::string> read_count(std::string_view name, std::string_view text,
                                      std::uint32_t most, std::uint32_t& count) {
  const auto number = number_of(text, most);
  if (!number) return must_be(name, most);
  count = *number;
  return std::nullopt;
}

/// Says what is wrong with the word.
std::optional<std::string> read_word(std::string_view name, std::string_view value,
                                     ClientLimits& limits) {
  if (name == "rate") return read_rate(value, limits);
  if (name == "burst") return read_count(name, value, ClientLimits::most_rate, limits.burst);
  if (name == "running") return read_count(name, value, ClientLimits::most_running, limits.running);
  if (name == "weight") return read_count(name, value, ClientLimits::most_weight, limits.weight);
  return "a limit must be rate=N, burst=N, running=N or weight=N";
}

}  // namespace

std::uint32_t ClientLimits::most_at_once() const noexcept {
  return burst > 0 ? burst : std::max(1U, rate / static_cast<std::uint32_t>(per.count()));
}

std::variant<ClientLimits, std::string> parse_client_limits(std::string_view text) {
  std::vector<std::string> words;
  boost::algorithm::split(words, text, boost::algorithm::is_any_of(" \t"),
                          boost::algorithm::token_compress_on);
  ClientLimits limits;
  std::set<std::string_view> seen;
  for (const std::string_view word : words) {
    if (word.empty()) continue;
    const auto name = word.substr(0, word.find('='));
    const auto value = word.substr(std::min(word.size(), name.size() + 1));
    if (auto error = read_word(name, value, limits)) return std::move(*error);
    if (!seen.insert(name).second) return std::string(name) + " is there twice";
  }
  if (limits.burst > 0 && limits.rate == 0) return std::string("burst needs a rate");
  return limits;
}

}  // namespace heistd
