// SqliteStarts: how the attempts of a journal's jobs begin.
#pragma once

#include <heistd/journal/job_journal.hpp>
#include <heistd/journal/running_attempts.hpp>
#include <heistd/journal/sqlite_database.hpp>
#include <optional>

namespace heistd {

/// Reads what a start needs, and notes it beside the database: so a start waits for no transaction.
///
/// Thread: its database's, the starter of the attempts.   Errors: SqliteError, std::bad_alloc;
///         nothing has been started then.
class SqliteStarts {
 public:
  SqliteStarts(SqliteDatabase& database, RunningAttempts& attempts);

  [[nodiscard]] std::optional<JobJournal::Started> start(const JobId& id);

 private:
  std::optional<JobJournal::Started> next_attempt(const JobId& id);

  RunningAttempts& attempts_;
  SqliteStatement find_;
};

}  // namespace heistd
