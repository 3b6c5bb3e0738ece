// ClientSpec: a client as the operator names it.
#pragma once

#include <heist/priority.hpp>
#include <heistd/client_limits.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heistd {

/// The client of all who show no token.
inline constexpr std::string_view anonymous_name = "anonymous";

/// "NAME:TOKEN:CEILING LIMITS", or "anonymous LIMITS" for the client that shows no token; there may
/// be no limits.
struct ClientSpec {
  std::string name;
  std::string token;  ///< empty: the client that shows none
  heist::TaskPriority ceiling = heist::TaskPriority::user_blocking;
  ClientLimits limits = {};
};

/// The parsed text, or what is wrong with it, in which the token is not repeated.
[[nodiscard]] std::variant<ClientSpec, std::string> parse_client_spec(std::string_view text);

/// Some clients, or what is wrong with them.
using ClientSpecs = std::variant<std::vector<ClientSpec>, std::string>;

/// Those of the list with those of the file: one to a line, besides empty lines and those that
/// begin with a '#'. A client may be there several times, each with a token of its own, so that a
/// new token can be brought in before the old one goes. Without a path they are those of the list.
///
/// Blocks: until the file has been read.
[[nodiscard]] ClientSpecs read_clients(std::vector<ClientSpec> list, const std::string& path);

}  // namespace heistd
