// PostgresError: why a call to PostgreSQL has no answer.
#pragma once

#include <cstdint>
#include <string>

namespace heistd {

enum class PostgresFault : std::uint8_t {
  refused,           ///< by the server; nothing was changed
  outcome_unknown,   ///< it was sent, and the connection was lost before the answer came
  no_connection,     ///< it was not sent, or not again, in time; nothing was changed
  too_many_waiting,  ///< it was not sent, as too many others wait
  unreadable,        ///< it was done, and the answer is not as this version of the schema has it
};

struct PostgresError {
  PostgresFault fault = PostgresFault::refused;
  std::string sqlstate = {};  ///< five letters and digits, if the server has said it
  std::string message = {};   ///< one line or more, without secrets

  /// Another transaction was in its way: the same call may succeed when it is made again.
  [[nodiscard]] bool is_conflict() const noexcept {
    return sqlstate == "40001" || sqlstate == "40P01";
  }
};

/// What was wrong, as one text for people.
[[nodiscard]] std::string describe(const PostgresError& error);

}  // namespace heistd
