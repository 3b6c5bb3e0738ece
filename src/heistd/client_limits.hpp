// ClientLimits: what the operator grants a client, compared with others.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace heistd {

/// Zero means without a limit, but for the weight.
struct ClientLimits {
  static constexpr std::uint32_t most_rate = 1'000'000;
  static constexpr std::uint32_t most_running = 10'000;
  static constexpr std::uint32_t most_weight = 1000;

  std::uint32_t rate = 0;       ///< jobs that it posts in each of these times
  std::chrono::seconds per{1};  ///< a second, a minute or an hour
  std::uint32_t burst = 0;      ///< jobs at once; zero: those of a second, and at least one
  std::uint32_t running = 0;    ///< jobs that run at a time
  std::uint32_t weight = 1;     ///< how many jobs it starts for each one of a client of weight 1

  [[nodiscard]] bool operator==(const ClientLimits&) const = default;
  /// How many jobs it may post at once after a pause.   Precondition: there is a rate.
  [[nodiscard]] std::uint32_t most_at_once() const noexcept;
};

/// Reads words such as "rate=10/s burst=20 running=4 weight=3", in any order; says what is wrong.
[[nodiscard]] std::variant<ClientLimits, std::string> parse_client_limits(std::string_view text);

}  // namespace heistd
