// Target: the path and the query of a request.
#pragma once

#include <heistd/refusal.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heistd {

/// A request target, decoded.
struct Target {
  std::vector<std::string> path;  ///< segments; "/" has none
  std::vector<std::pair<std::string, std::string>> query;
};

/// Parses `/path?query`, or an absolute http URL; `%XX` is decoded, and `+` in the query is a
/// space. Other characters may stand in the query as they are.
///
/// Errors: "bad_target".
[[nodiscard]] Result<Target> parse_target(std::string_view text);

}  // namespace heistd
