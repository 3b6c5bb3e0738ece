// ClientSpec: a client as the operator names it.
#pragma once

#include <heist/priority.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heistd {

/// "NAME:TOKEN:CEILING".
struct ClientSpec {
  std::string name;
  std::string token;
  heist::TaskPriority ceiling = heist::TaskPriority::user_blocking;
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
