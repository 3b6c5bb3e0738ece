#include <array>
#include <cstddef>
#include <filesystem>
#include <heistd/journal/sqlite_schema.hpp>
#include <heistd/journal/start_notes.hpp>
#include <string>
#include <utility>
#include <vector>

namespace heistd {
namespace {

/// "HJNL", in the file's header, so that it is not taken for another program's.
constexpr std::int64_t application = 0x484A4E4C;

/// A job's `seq` is its order of acceptance. It comes once only, as payloads and results go by it.
/// States below 2 are unfinished ones. Of a finished job `kept` is what it counts for. Jobs of a
/// signal have no priority, so that a change of the signal's is one row.
constexpr const char* tables = R"sql(
  BEGIN;
  CREATE TABLE job(
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL UNIQUE, client BLOB NOT NULL, kind BLOB NOT NULL,
    parameters BLOB NOT NULL, signal BLOB, priority INTEGER, may_start INTEGER NOT NULL,
    attempt INTEGER NOT NULL, forgiven INTEGER NOT NULL, max_attempts INTEGER NOT NULL,
    state INTEGER NOT NULL, idempotency_key BLOB, digest BLOB, payload_bytes INTEGER NOT NULL,
    result_description BLOB, result_bytes INTEGER NOT NULL DEFAULT 0, error_code BLOB,
    error_message BLOB, ended_at INTEGER, kept INTEGER);
  CREATE INDEX job_unfinished ON job(seq) WHERE state < 2;
  CREATE INDEX job_running ON job(seq) WHERE state = 1;
  CREATE INDEX job_of_signal ON job(client, signal) WHERE signal IS NOT NULL AND state < 2;
  CREATE INDEX job_finished ON job(ended_at, seq, kept) WHERE state >= 2;
  CREATE TABLE payload(place INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
  CREATE TABLE result(place INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
  CREATE TABLE signal(
    client BLOB NOT NULL, name BLOB NOT NULL, priority INTEGER NOT NULL, was_put INTEGER NOT NULL,
    PRIMARY KEY(client, name)) WITHOUT ROWID;
  CREATE TABLE idempotency(
    client BLOB NOT NULL, key BLOB NOT NULL, digest BLOB NOT NULL, id BLOB NOT NULL,
    until INTEGER NOT NULL, PRIMARY KEY(client, key)) WITHOUT ROWID;
  CREATE INDEX idempotency_until ON idempotency(until);
  PRAGMA application_id = 0x484A4E4C;
  PRAGMA user_version = 1;
  COMMIT;
)sql";

/// For lists of a client's jobs.
constexpr const char* list_indexes = R"sql(
  CREATE INDEX IF NOT EXISTS job_of_client ON job(client, seq);
  CREATE INDEX IF NOT EXISTS job_dead ON job(client, seq) WHERE state = 5;
)sql";

/// What each version adds to the one before it, from the second on. A new journal begins as the
/// first version, too, so that all journals have come about in the same way.
constexpr std::array upgrades = {
    R"sql(
  BEGIN;
  ALTER TABLE job ADD COLUMN expires_at INTEGER;
  ALTER TABLE job ADD COLUMN timeout INTEGER;
  PRAGMA user_version = 2;
  COMMIT;
)sql",
    R"sql(
  BEGIN;
  CREATE TABLE pause(
    client BLOB NOT NULL, what INTEGER NOT NULL, name BLOB NOT NULL,
    PRIMARY KEY(client, what, name)) WITHOUT ROWID;
  PRAGMA user_version = 3;
  COMMIT;
)sql",
    // `predecessor` is the id of the job that this one comes after, and `follows` the `seq` of that
    // for as long as it has not ended.
    R"sql(
  BEGIN;
  ALTER TABLE job ADD COLUMN predecessor BLOB;
  ALTER TABLE job ADD COLUMN follows INTEGER;
  CREATE INDEX job_follower ON job(follows) WHERE follows NOTNULL;
  PRAGMA user_version = 4;
  COMMIT;
)sql",
    R"sql(
  BEGIN;
  ALTER TABLE job ADD COLUMN request_id BLOB;
  PRAGMA user_version = 5;
  COMMIT;
)sql",
    // SQLite writes an index's entry again whenever a column changes that its condition names. So
    // these name what changes with the end of a job only: the time of that.
    R"sql(
  BEGIN;
  DROP INDEX job_running;
  DROP INDEX job_unfinished;
  DROP INDEX job_of_signal;
  DROP INDEX job_finished;
  CREATE INDEX job_unfinished ON job(seq) WHERE ended_at ISNULL;
  CREATE INDEX job_of_signal ON job(client, signal) WHERE signal NOTNULL AND ended_at ISNULL;
  CREATE INDEX job_finished ON job(ended_at, seq, kept) WHERE ended_at NOTNULL;
  PRAGMA user_version = 6;
  COMMIT;
)sql",
    // From here on the file "starts" says which attempts run. A heistd that does not read it would
    // start them once more, with the same numbers.
    R"sql(
  PRAGMA user_version = 7;
)sql",
    // For a start, which loads the newest finished jobs of each client, and so that the oldest dead
    // job is found, and the oldest one of the others. By the last index the bytes of dead jobs are
    // added up, after each transaction that was rolled back.
    R"sql(
  BEGIN;
  DROP INDEX job_finished;
  CREATE INDEX job_finished ON job((state = 5), ended_at, seq, kept) WHERE ended_at NOTNULL;
  CREATE INDEX job_ended ON job(client, ended_at, seq) WHERE ended_at NOTNULL;
  CREATE INDEX job_dead_bytes ON job(kept) WHERE state = 5;
  PRAGMA user_version = 8;
  COMMIT;
)sql"};
constexpr std::int64_t version = 1 + upgrades.size();

/// 8 MiB of pages. What is deleted is overwritten where that costs no page of its own; Debian's
/// SQLite would write each page that becomes free, too, one for each payload.
constexpr const char* settings = R"sql(
  PRAGMA cache_size = -8192;
  PRAGMA secure_delete = FAST;
)sql";

std::filesystem::path file_in(const DataDirectory& directory) {
  return directory.path() / "journal.sqlite";
}

[[noreturn]] void refuse(JournalFault fault, std::string detail) {
  throw SqliteError({fault, std::move(detail)});
}

void check_version(SqliteDatabase& database) {
  if (database.number("PRAGMA application_id") != application) {
    refuse(JournalFault::corrupt, "the database is not a journal of heistd");
  }
  const auto found = database.number("PRAGMA user_version");
  if (found > version) refuse(JournalFault::too_new, "version " + std::to_string(found));
}

void upgrade(SqliteDatabase& database) {
  for (auto at = database.number("PRAGMA user_version"); at < version; ++at) {
    database.execute(upgrades.at(static_cast<std::size_t>(at - 1)));
  }
}

void check_whole(SqliteDatabase& database) {
  const auto found = database.text("PRAGMA quick_check(1)");
  if (found != "ok") refuse(JournalFault::corrupt, "SQLite: " + found);
}

/// Notes whose rows say as much, or more, are of attempts that have ended.
void store_left_attempts(SqliteDatabase& database, const std::vector<StartNote>& notes) {
  SqliteStatement store(database,
                        "UPDATE job SET state = 1, attempt = ?1 "
                        "WHERE id = ?2 AND attempt < ?1 AND ended_at ISNULL");
  database.execute("BEGIN IMMEDIATE");
  for (const auto& note : notes) store.with(note.attempt, std::string_view(note.id)).run();
  database.execute("COMMIT");
}

SqliteDatabase open(const DataDirectory& directory) {
  const bool must_be_there = directory.was_filled();
  if (must_be_there && !std::filesystem::exists(file_in(directory))) {
    refuse(JournalFault::corrupt, "journal.sqlite is gone");
  }
  SqliteDatabase database(file_in(directory), SqliteDatabase::Access::write);
  if (database.text("PRAGMA journal_mode = WAL") != "wal") {
    refuse(JournalFault::io_failed, "SQLite cannot keep a write-ahead log there");
  }
  database.execute("PRAGMA synchronous = FULL");
  database.execute(settings);
  if (!must_be_there && database.number("SELECT count(*) FROM sqlite_schema") == 0) {
    database.execute(tables);
  }
  check_version(database);
  check_whole(database);
  upgrade(database);
  database.execute(list_indexes);
  store_left_attempts(database, StartNotes::left_in(directory.path()));
  directory.set_filled();
  return database;
}

}  // namespace

SqliteDatabase open_for_writing(const DataDirectory& directory) {
  try {
    return open(directory);
  } catch (const SqliteError& error) {
    throw JournalRefused(directory.path().string(), error.error());
  }
}

SqliteDatabase open_another(const DataDirectory& directory, SqliteDatabase::Access access) {
  try {
    return {file_in(directory), access};
  } catch (const SqliteError& error) {
    throw JournalRefused(directory.path().string(), error.error());
  }
}

}  // namespace heistd
