#include <heistd/postgresql/postgres_fault.hpp>
#include <string_view>

namespace heistd {
namespace {

/// By the server's SQLSTATE; PostgreSQL's appendix A lists them.
JournalFault fault_of(std::string_view sqlstate) noexcept {
  if (sqlstate == "53100") return JournalFault::disk_full;
  if (sqlstate == "53200") return JournalFault::out_of_memory;
  if (sqlstate == "25006") return JournalFault::read_only;  // a standby
  if (sqlstate.starts_with("XX")) return JournalFault::corrupt;
  return JournalFault::io_failed;
}

}  // namespace

JournalError journal_error(const PostgresError& error) {
  switch (error.fault) {
    case PostgresFault::no_connection:
    case PostgresFault::too_many_waiting:
      return {JournalFault::unreachable, error.message};
    case PostgresFault::outcome_unknown:
      return {JournalFault::unknown_outcome, error.message};
    case PostgresFault::unreadable:
      return {JournalFault::corrupt, error.message};
    case PostgresFault::refused:
      break;
  }
  return {fault_of(error.sqlstate), describe(error)};
}

}  // namespace heistd
