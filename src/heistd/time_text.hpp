// Times as people write them: 500ms, 30s, 5m.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace heistd {

/// A whole number of ms, s or m, from a millisecond to an hour; nothing for any other text.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_time_text(
    std::string_view text) noexcept;

}  // namespace heistd
