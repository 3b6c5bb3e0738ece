// Address: where the server is.
#pragma once

#include <string>

namespace heistctl {

struct Address {
  std::string text;         ///< as the user gave it
  std::string url;          ///< what the target of a request is appended to
  std::string unix_socket;  ///< a path; empty: the URL says where to connect
  bool has_tls = false;
};

/// Reads http://HOST:PORT, https://HOST:PORT or unix:/PATH. Errors: a Failure of usage for any
/// other text.
[[nodiscard]] Address parse_address(const std::string& text);

}  // namespace heistctl
