// The text of --max-wait: background=5s,user-visible=500ms.
#pragma once

#include <heist/priority.hpp>
#include <string>
#include <variant>
#include <vector>

namespace heistd {

/// Reads `PRIORITY=TIME` texts; TIME is a whole number of ms, s or m, from a millisecond to an
/// hour. Priorities without one have no maximum.
///
/// Returns the maximum waits, or a sentence that names what is wrong.
[[nodiscard]] std::variant<heist::MaxWait, std::string> parse_max_wait(
    const std::vector<std::string>& texts);

}  // namespace heistd
