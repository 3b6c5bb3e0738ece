#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/url/grammar/ci_string.hpp>
#include <heistd/served_names.hpp>

namespace heistd {
namespace {

/// How origins of the server's own pages begin, and their port where they name none.
struct Scheme {
  std::string_view text;
  std::string_view port;
};

constexpr Scheme plain{"http://", "80"};
constexpr Scheme encrypted{"https://", "443"};

/// A host and the port behind it; `host:` has none.
struct Authority {
  std::string host;
  std::string port;
};

/// The canonical form of an address, without brackets; of anything else, its lower case.
std::string canonical(std::string_view host) {
  const bool in_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  boost::system::error_code error;
  if (in_brackets) {
    const auto address = boost::asio::ip::make_address_v6(host.substr(1, host.size() - 2), error);
    if (!error) return address.to_string();
  }
  std::string lower(host);
  std::ranges::transform(lower, lower.begin(), boost::urls::grammar::to_lower);  // knows no locale
  return lower;
}

Authority split(std::string_view text, std::string_view usual_port) {
  const auto bracket = text.rfind(']');
  const auto colon = text.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  if (!has_port) return {canonical(text), std::string(usual_port)};
  const auto port = text.substr(colon + 1);
  return {canonical(text.substr(0, colon)), std::string(port.empty() ? usual_port : port)};
}

bool is_port(std::string_view text) {
  return text.size() <= 5 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Of `http://authority/path?query`; nothing for `/path?query`.
std::optional<std::string_view> authority_of(std::string_view target) {
  const auto start = target.find("://");
  if (target.starts_with('/') || start == std::string_view::npos) return std::nullopt;
  const auto rest = target.substr(start + 3);
  return rest.substr(0, rest.find_first_of("/?#"));
}

bool is_same_origin(std::string_view origin, std::string_view host, const Scheme& scheme) {
  if (!boost::algorithm::istarts_with(origin, scheme.text)) return false;
  const auto theirs = split(origin.substr(scheme.text.size()), scheme.port);
  const auto ours = split(host, scheme.port);
  return theirs.host == ours.host && theirs.port == ours.port;
}

/// "none": a user's own doing, such as a bookmark.
bool is_foreign(const Sender& sender) {
  if (sender.fetch_site && *sender.fetch_site != "same-origin" && *sender.fetch_site != "none") {
    return true;
  }
  const auto& scheme = sender.has_tls ? encrypted : plain;
  return sender.origin && !(sender.host && is_same_origin(*sender.origin, *sender.host, scheme));
}

}  // namespace

ServedNames::ServedNames(const std::vector<std::string>& names)
    : names_{"localhost", "127.0.0.1", "::1"} {
  for (const auto& name : names) names_.push_back(canonical(name));
}

bool ServedNames::serves(std::string_view authority, const std::string& local_address) const {
  const auto [host, port] = split(authority, plain.port);
  return is_port(port) &&
         (host == local_address || std::ranges::find(names_, host) != names_.end());
}

std::optional<Refusal> ServedNames::check(const Sender& sender,
                                          const std::string& local_address) const {
  for (const auto& authority : {sender.host, authority_of(sender.target)}) {
    if (authority && !serves(*authority, local_address)) {
      return Refusal{421, "bad_host", "the server is not known by this name; see --host", "Host"};
    }
  }
  if (is_foreign(sender)) {
    return Refusal{403, "foreign_origin", "pages of other origins may not use this server",
                   "Origin"};
  }
  return std::nullopt;
}

bool is_host_name(std::string_view text) {
  static constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  if (text.starts_with('[')) return canonical(text).find('[') == std::string::npos;
  return !text.empty() && text.size() <= 253 &&
         text.find_first_not_of(allowed) == std::string_view::npos;
}

}  // namespace heistd
