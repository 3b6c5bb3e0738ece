// SqliteReads: what is read from a journal's database.
#pragma once

#include <heistd/journal/job_journal.hpp>
#include <heistd/journal/running_attempts.hpp>
#include <heistd/journal/sqlite_database.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heistd {

/// Thread: its database's.   Errors: SqliteError, std::bad_alloc.
class SqliteReads {
 public:
  SqliteReads(SqliteDatabase& database, const RunningAttempts& attempts);

  [[nodiscard]] std::optional<StoredJob> find(const JobId& id, SystemTime now);
  [[nodiscard]] std::size_t count_unfinished();
  [[nodiscard]] std::vector<StoredJob> load_unfinished(AcceptanceOrder after, std::size_t most,
                                                       SystemTime now);
  [[nodiscard]] std::vector<StoredJob> load_ended(std::string_view client,
                                                  JobJournal::EndPlace before, std::size_t most,
                                                  SystemTime now);
  [[nodiscard]] JobPage<StoredJob> list(std::string_view client, const JobQuery& query,
                                        SystemTime now);
  [[nodiscard]] std::vector<StoredSignal> signals();
  [[nodiscard]] std::vector<StoredPause> pauses();
  [[nodiscard]] std::string payload_part(const JobId& id, ByteRange range);
  [[nodiscard]] std::string result_part(const JobId& id, ByteRange range);

 private:
  /// Statements for the jobs of a client, or for those of them that one index has.
  struct Listing {
    Listing(SqliteDatabase& database, std::string_view index, std::string_view condition);
    SqliteStatement last;  ///< of those that are looked at, if others follow
    SqliteStatement jobs;
  };

  std::string part(SqliteStatement& pieces, const JobId& id, ByteRange range);

  const RunningAttempts& attempts_;
  SqliteStatement find_;
  SqliteStatement order_of_;
  SqliteStatement count_unfinished_;
  SqliteStatement load_unfinished_;
  SqliteStatement load_ended_;
  Listing list_all_;
  Listing list_dead_;
  SqliteStatement signals_;
  SqliteStatement pauses_;
  SqliteStatement payload_;
  SqliteStatement result_;
};

}  // namespace heistd
