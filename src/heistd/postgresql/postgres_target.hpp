// PostgresTarget: which server a connection string means.
#pragma once

#include <libpq-fe.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heistd {

/// A connection string as libpq has it: `key=value` pairs, or a URI `postgresql://...`. What it
/// does not say comes from the environment (PGHOST and so on). Unless it says otherwise, a peer
/// that is gone is noticed after a quarter of a minute, by keepalives and by what is sent and not
/// acknowledged.
///
/// libpq resolves names of hosts itself, and blocks meanwhile. So whoever connects resolves those
/// of `hosts`, and gives what they are to `connect`.
///
/// Errors: std::invalid_argument for a string that cannot be read, without the text of it, as it
///         may have a password.   Cost: reads the environment.
class PostgresTarget {
 public:
  explicit PostgresTarget(const std::string& text);

  struct Host {
    std::string name;  ///< empty or a path: a Unix socket
    std::string port;  ///< empty: the default one
    [[nodiscard]] bool has_to_be_resolved() const noexcept {
      return !name.empty() && name.front() != '/' && name.front() != '@';
    }
  };
  /// In the order in which they are tried; none when their addresses are given.
  [[nodiscard]] const std::vector<Host>& hosts() const noexcept { return hosts_; }

  /// A host with one of its addresses, which is empty for a Unix socket.
  struct Place {
    Host host;
    std::string address;
  };
  /// Begins to connect to the first of them that can be reached. Statements are cancelled by the
  /// server after `statement_time`.   Blocks: never.   Errors: std::bad_alloc.
  [[nodiscard]] ::PGconn* connect(const std::vector<Place>& places,
                                  std::chrono::milliseconds statement_time) const;

 private:
  using Parameter = std::pair<std::string, std::string>;
  using Parameters = std::vector<Parameter>;

  void read_hosts();
  [[nodiscard]] Parameters parameters_for(const std::vector<Place>& places,
                                          std::chrono::milliseconds statement_time) const;
  [[nodiscard]] std::string value_of(std::string_view key) const;
  void set_default(const char* key, std::string value);

  Parameters parameters_;
  std::vector<Host> hosts_;
};

}  // namespace heistd
