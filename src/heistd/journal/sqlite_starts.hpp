// SqliteStarts: how the attempts of a journal's jobs begin.
#pragma once

#include <heistd/journal/job_journal.hpp>
#include <heistd/journal/running_attempts.hpp>
#include <heistd/journal/sqlite_database.hpp>
#include <optional>
#include <string>

namespace heistd {

/// Reads what a start needs, and notes it beside the database: so a start waits for no transaction.
///
/// Thread: its database's, the starter of the attempts.   Errors: SqliteError, std::bad_alloc;
///         nothing has been started then.
class SqliteStarts {
 public:
  SqliteStarts(SqliteDatabase& database, RunningAttempts& attempts);

  [[nodiscard]] std::optional<JobJournal::Started> start(const JobId& id);
  /// The same of a job that is queued, has never been started, and has this upload.
  [[nodiscard]] std::optional<JobJournal::Started> start_first(const JobId& id, std::string upload);

 private:
  std::optional<JobJournal::Started> next_attempt(const JobId& id);

  RunningAttempts& attempts_;
  SqliteStatement find_;
};

}  // namespace heistd
