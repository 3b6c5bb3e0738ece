// SqliteDatabase and SqliteStatement: a connection to SQLite, and what is run on it.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <heistd/journal/journal_error.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace heistd {

/// From now on SQLite does not count the bytes that it has in all of the process: for that it takes
/// a lock with each allocation, a tenth of what a journal costs, and nobody asks for the number.
/// Does nothing in a program that has used SQLite before.
inline void stop_counting_memory_of_sqlite() noexcept {
  static_cast<void>(::sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0));
}

/// What SQLite refused to do.
class SqliteError : public std::exception {
 public:
  explicit SqliteError(JournalError error) noexcept : error_(std::move(error)) {}
  [[nodiscard]] const JournalError& error() const noexcept { return error_; }
  /// The same, to be called once. A copy would take memory, which may be what was missing.
  [[nodiscard]] JournalError take() noexcept { return std::move(error_); }
  [[nodiscard]] const char* what() const noexcept override { return error_.detail.c_str(); }

 private:
  JournalError error_;
};

/// A connection.
///
/// Thread: one at a time.   Errors: SqliteError.
class SqliteDatabase {
 public:
  enum class Access : std::uint8_t { read, write };

  /// For writing, a file that is not there is made.
  SqliteDatabase(const std::filesystem::path& file, Access access);

  /// Statements without parameters, or several.
  void execute(const char* sql);
  /// The first column of the first row.
  [[nodiscard]] std::int64_t number(const char* sql);
  [[nodiscard]] std::string text(const char* sql);
  /// Of the latest statement, how many rows it has changed.
  [[nodiscard]] int changes() noexcept { return ::sqlite3_changes(connection_.get()); }
  [[nodiscard]] std::int64_t last_row() noexcept {
    return ::sqlite3_last_insert_rowid(connection_.get());
  }
  /// Copies as much of the log into the database as can be without waiting for others. What it
  /// left, as it failed or others read that, the next one copies.
  void checkpoint() noexcept;
  /// Calls `hook` with `context` after each transaction, and with how many pages the log has then.
  /// From now on nothing copies the log but checkpoint().
  void on_commit(int (*hook)(void*, ::sqlite3*, const char*, int), void* context) noexcept {
    ::sqlite3_wal_hook(connection_.get(), hook, context);
  }
  /// Ends a transaction as if it had not been; none need be open.
  void roll_back() noexcept;

 private:
  friend class SqliteStatement;
  struct Close {
    void operator()(::sqlite3* connection) const noexcept { ::sqlite3_close_v2(connection); }
  };

  [[noreturn]] void refuse(int code);
  void check(int code);

  std::unique_ptr<::sqlite3, Close> connection_;
};

/// A prepared statement, which is run again and again.
///
/// Thread: its database's.   Errors: SqliteError.   Lifetime: within its database's.
class SqliteStatement {
 public:
  SqliteStatement(SqliteDatabase& database, std::string_view sql);

  /// Begins anew with these values: numbers, texts (which outlive the run), or nothing.
  template <class... Values>
  SqliteStatement& with(const Values&... values) {
    reset();
    [[maybe_unused]] int place = 0;
    (bind(++place, values), ...);
    return *this;
  }
  /// Goes on to the next row; false when there is none.
  bool next();
  /// Runs it, when it gives no rows.
  void run() {
    static_cast<void>(next());
    reset();
  }
  void reset() noexcept { ::sqlite3_reset(statement_.get()); }

  /// Columns of the row, from 0.
  [[nodiscard]] std::int64_t number(int column) noexcept {
    return ::sqlite3_column_int64(statement_.get(), column);
  }
  [[nodiscard]] std::string text(int column);
  [[nodiscard]] bool is_null(int column) noexcept {
    return ::sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
  }

 private:
  struct Finalize {
    void operator()(::sqlite3_stmt* statement) const noexcept { ::sqlite3_finalize(statement); }
  };

  void bind(int place, std::int64_t value);
  void bind(int place, std::uint64_t value) { bind(place, static_cast<std::int64_t>(value)); }
  void bind(int place, std::uint32_t value) { bind(place, static_cast<std::int64_t>(value)); }
  void bind(int place, std::string_view value);
  void bind(int place, std::nullopt_t value);
  template <class T>
  void bind(int place, const std::optional<T>& value) {
    if (value) {
      bind(place, *value);
    } else {
      bind(place, std::nullopt);
    }
  }

  SqliteDatabase& database_;
  std::unique_ptr<::sqlite3_stmt, Finalize> statement_;
};

/// Ends a statement's run, however that goes on: while it is under way, as memory ran out in
/// between, all reads would see the database as it was when that began.
class RunEnd {
 public:
  explicit RunEnd(SqliteStatement& statement) noexcept : statement_(statement) {}
  RunEnd(const RunEnd&) = delete;
  RunEnd& operator=(const RunEnd&) = delete;
  ~RunEnd() { statement_.reset(); }

 private:
  SqliteStatement& statement_;
};

/// No value for an empty text.
[[nodiscard]] inline std::optional<std::string_view> value_of(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

}  // namespace heistd
