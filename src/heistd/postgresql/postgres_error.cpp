#include <heistd/postgresql/postgres_error.hpp>
#include <string_view>

namespace heistd {
namespace {

std::string_view text_of(PostgresFault fault) noexcept {
  switch (fault) {
    case PostgresFault::refused:
      return "PostgreSQL has refused it";
    case PostgresFault::outcome_unknown:
      return "the connection to PostgreSQL was lost, and whether it was done is not known";
    case PostgresFault::no_connection:
      return "there is no connection to PostgreSQL";
    case PostgresFault::unreadable:
      return "it was done, and the answer of PostgreSQL cannot be read";
    case PostgresFault::too_many_waiting:
      break;
  }
  return "too much waits for PostgreSQL";
}

}  // namespace

std::string describe(const PostgresError& error) {
  std::string all(text_of(error.fault));
  if (!error.message.empty()) all += ": " + error.message;
  if (!error.sqlstate.empty()) all += " (SQLSTATE " + error.sqlstate + ")";
  return all;
}

}  // namespace heistd
