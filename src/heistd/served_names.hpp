// ServedNames: by which names the server may be asked, and by whose pages.
#pragma once

#include <heistd/refusal.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heistd {

/// What a request says about whom it is for, and where it comes from.
struct Sender {
  std::string_view target;  ///< of the request line; an absolute one names a host as well
  std::optional<std::string_view> host;
  std::optional<std::string_view> origin;
  std::optional<std::string_view> fetch_site;  ///< Sec-Fetch-Site
  bool has_tls = false;                        ///< so that its own pages are of https
};

/// Keeps out the web pages that a user of this machine or network has open. A page of another
/// origin is refused by what its browser says about it (Origin, Sec-Fetch-Site). A page whose own
/// name has come to lead here (DNS rebinding) seems to be of this origin, and is refused by that
/// name.
///
/// Thread: the network's.
class ServedNames {
 public:
  /// Names besides localhost, 127.0.0.1, [::1] and the address that a connection has reached.
  explicit ServedNames(const std::vector<std::string>& names);

  /// Nothing for a request that may go on. `local_address`: that the connection has reached.
  ///
  /// Errors: 421 "bad_host", 403 "foreign_origin".
  [[nodiscard]] std::optional<Refusal> check(const Sender& sender,
                                             const std::string& local_address) const;

 private:
  [[nodiscard]] bool serves(std::string_view authority, const std::string& local_address) const;

  std::vector<std::string> names_;  ///< in lower case; IPv6 addresses in their canonical form
};

/// Whether it can be a name in a Host header, without a port.
[[nodiscard]] bool is_host_name(std::string_view text);

}  // namespace heistd
