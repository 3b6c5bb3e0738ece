// Checkpoints: copies a database's log into the database while the journal goes on.
#pragma once

#include <heistd/journal/journal_thread.hpp>
#include <heistd/journal/sqlite_database.hpp>
#include <semaphore>

namespace heistd {

/// Keeps the write-ahead log short. The log begins anew only when a transaction begins while all of
/// it has been copied, and to copy thousands of pages takes as long as many transactions. So a
/// thread of its own copies what is there; then the journal copies the little that has come
/// meanwhile, between two transactions.
///
/// A copy that fails, for whatever reason, is tried again after a later transaction: the log has
/// everything until then.   Blocks: a transaction that ends with 64 MiB in the log waits for the
/// copy.
class Checkpoints {
 public:
  /// From now on all transactions of `written` are counted. `copying` is another connection to the
  /// same file.   Lifetime: within that of `written`.   Errors: std::system_error without a thread.
  Checkpoints(SqliteDatabase& written, SqliteDatabase copying);
  ~Checkpoints();
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

 private:
  class Copy;

  void note_commit(int pages) noexcept;
  void begin_copying() noexcept;

  SqliteDatabase& written_;
  SqliteDatabase copying_;   ///< of the thread
  bool is_copying_ = false;  ///< of the journal's thread
  std::binary_semaphore copied_{0};
  JournalThread thread_;
};

}  // namespace heistd
