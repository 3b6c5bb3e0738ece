#include <heistd/journal/sqlite_database.hpp>
#include <heistd/memory_shortage.hpp>
#include <new>

namespace heistd {
namespace {

/// How long another program's transaction on the same file is waited for.
constexpr int lock_patience_ms = 250;

JournalFault fault_of(int code, int system_error) noexcept {
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return JournalFault::disk_full;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return JournalFault::locked;
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return JournalFault::read_only;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return JournalFault::corrupt;
    case SQLITE_NOMEM:
      return JournalFault::out_of_memory;
    default:
      return fault_of_system(system_error);
  }
}

/// The error of the system with which a write has failed. SQLite tells it of many calls, but not of
/// those of a commit: all that is written here goes to the log, and its file knows.
int error_of_write(::sqlite3* connection) noexcept {
  ::sqlite3_file* log = nullptr;
  ::sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER,
                         static_cast<void*>(&log));
  int error = 0;
  if (log != nullptr && log->pMethods != nullptr) {
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &error);
  }
  return error;
}

int system_error_of(::sqlite3* connection, int code) noexcept {
  return code == SQLITE_IOERR_WRITE ? error_of_write(connection)
                                    : ::sqlite3_system_errno(connection);
}

}  // namespace

SqliteDatabase::SqliteDatabase(const std::filesystem::path& file, Access access) {
  const int flags =
      access == Access::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  ::sqlite3* connection = nullptr;
  const int code =
      ::sqlite3_open_v2(file.c_str(), &connection, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  connection_.reset(connection);
  if (connection == nullptr) throw std::bad_alloc();
  check(code);
  ::sqlite3_extended_result_codes(connection, 1);
  check(::sqlite3_busy_timeout(connection, lock_patience_ms));
}

void SqliteDatabase::refuse(int code) {
  const auto fault = fault_of(code, system_error_of(connection_.get(), code));
  if (fault == JournalFault::out_of_memory) MemoryShortage::note();
  throw SqliteError({fault, "SQLite: " + std::string(::sqlite3_errmsg(connection_.get()))});
}

void SqliteDatabase::check(int code) {
  if (code != SQLITE_OK) refuse(code);
}

void SqliteDatabase::execute(const char* sql) {
  check(::sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr));
}

std::int64_t SqliteDatabase::number(const char* sql) {
  SqliteStatement statement(*this, sql);
  return statement.next() ? statement.number(0) : 0;
}

std::string SqliteDatabase::text(const char* sql) {
  SqliteStatement statement(*this, sql);
  return statement.next() ? statement.text(0) : "";
}

void SqliteDatabase::checkpoint() noexcept {
  // A connection that has read nothing yet does not know that there is a log.
  static_cast<void>(
      ::sqlite3_exec(connection_.get(), "PRAGMA user_version", nullptr, nullptr, nullptr));
  static_cast<void>(::sqlite3_wal_checkpoint_v2(connection_.get(), nullptr,
                                                SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr));
}

void SqliteDatabase::roll_back() noexcept {
  if (::sqlite3_get_autocommit(connection_.get()) != 0) return;
  static_cast<void>(::sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr));
}

SqliteStatement::SqliteStatement(SqliteDatabase& database, std::string_view sql)
    : database_(database) {
  ::sqlite3_stmt* statement = nullptr;
  database_.check(::sqlite3_prepare_v3(database_.connection_.get(), sql.data(),
                                       static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                       &statement, nullptr));
  statement_.reset(statement);
}

bool SqliteStatement::next() {
  const int code = ::sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  try {
    database_.refuse(code);
  } catch (...) {
    reset();
    throw;
  }
}

std::string SqliteStatement::text(int column) {
  const auto* const bytes = ::sqlite3_column_blob(statement_.get(), column);
  const auto size = ::sqlite3_column_bytes(statement_.get(), column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

void SqliteStatement::bind(int place, std::int64_t value) {
  database_.check(::sqlite3_bind_int64(statement_.get(), place, value));
}

/// Texts are kept as bytes, as nobody has said that they are UTF-8.
void SqliteStatement::bind(int place, std::string_view value) {
  // A null pointer would stand for no value.
  const char* const bytes = value.empty() ? "" : value.data();
  database_.check(
      ::sqlite3_bind_blob64(statement_.get(), place, bytes, value.size(), SQLITE_STATIC));
}

void SqliteStatement::bind(int place, std::nullopt_t /*value*/) {
  database_.check(::sqlite3_bind_null(statement_.get(), place));
}

}  // namespace heistd
