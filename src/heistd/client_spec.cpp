#include <algorithm>
#include <boost/algorithm/string/trim.hpp>
#include <cerrno>
#include <fstream>
#include <heistd/client_spec.hpp>
#include <heistd/query.hpp>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

namespace heistd {
namespace {

constexpr std::string_view token_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/=";

/// What is wrong with them together.
std::optional<std::string> contradiction(const std::vector<ClientSpec>& specs) {
  std::map<std::string_view, const ClientSpec*> first;
  std::set<std::string_view> tokens;
  for (const auto& spec : specs) {
    if (spec.name == anonymous_name && !spec.token.empty()) return "NAME is taken: anonymous";
    const auto& before = *first.emplace(spec.name, &spec).first->second;
    if (before.ceiling != spec.ceiling) return "client " + spec.name + " has two ceilings";
    if (before.limits != spec.limits) {
      return "client " + spec.name + " has other limits in another place: repeat them";
    }
    if (spec.token.empty()) continue;
    if (!tokens.insert(spec.token).second) return "a TOKEN is there twice";
  }
  return std::nullopt;
}

/// What is before the limits.
std::variant<ClientSpec, std::string> parse_who(std::string_view text) {
  const auto name_end = text.find(':');
  const auto token_end = text.rfind(':');
  if (text == anonymous_name) return ClientSpec{.name = std::string(text), .token = {}};
  if (name_end == token_end) return std::string("must be NAME:TOKEN:CEILING");
  const auto name = text.substr(0, name_end);
  const auto token = text.substr(name_end + 1, token_end - name_end - 1);
  const auto ceiling = heist::parse_task_priority(text.substr(token_end + 1));
  if (!is_name(name)) return std::string("NAME must be 1 to 64 letters, digits, '.', '_' or '-'");
  if (token.empty() || token.find_first_not_of(token_characters) != std::string_view::npos) {
    return std::string("TOKEN must be letters, digits or any of -._~+/=");
  }
  if (!ceiling) return std::string("CEILING must be background, user-visible or user-blocking");
  return ClientSpec{std::string(name), std::string(token), *ceiling, {}};
}

/// Adds those of the file; otherwise says what is wrong.
std::optional<std::string> add_from(const std::string& path, std::vector<ClientSpec>& specs) {
  std::ifstream file(path);
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    boost::algorithm::trim(line);
    if (line.empty() || line.front() == '#') continue;
    auto parsed = parse_client_spec(line);
    if (const auto* error = std::get_if<std::string>(&parsed)) {
      return path + " line " + std::to_string(number) + ": " + *error;
    }
    specs.push_back(std::get<ClientSpec>(std::move(parsed)));
  }
  if (file.eof()) return std::nullopt;
  return path + ": " + std::generic_category().message(errno);
}

}  // namespace

std::variant<ClientSpec, std::string> parse_client_spec(std::string_view text) {
  const auto last_colon = std::min(text.rfind(':'), text.size());
  const auto limits_begin = text.find_first_of(" \t", last_colon < text.size() ? last_colon : 0);
  const auto who = text.substr(0, limits_begin);
  auto spec = parse_who(who);
  if (std::holds_alternative<std::string>(spec)) return spec;
  auto limits = parse_client_limits(text.substr(who.size()));
  if (auto* const error = std::get_if<std::string>(&limits)) return std::move(*error);
  std::get<ClientSpec>(spec).limits = std::get<ClientLimits>(limits);
  return spec;
}

ClientSpecs read_clients(std::vector<ClientSpec> list, const std::string& path) {
  if (!path.empty()) {
    if (auto error = add_from(path, list)) return std::move(*error);
  }
  if (auto error = contradiction(list)) return std::move(*error);
  return list;
}

}  // namespace heistd
