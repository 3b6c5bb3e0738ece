// StartNotes: which attempts are under way, in a file that outlives the process.
#pragma once

#include <cstddef>
#include <filesystem>
#include <heistd/journal/job_record.hpp>
#include <vector>

namespace heistd {

/// A job's attempt that has been started.
struct StartNote {
  JobId id;
  Attempt attempt = 0;
};

/// A file with a place for each attempt that is under way. What is written there is in the system's
/// memory at once: `kill -9` does not take it back, though a loss of power may. A place is written
/// again when the end of its attempt is stored elsewhere, and not before; so notes of attempts that
/// have ended may be left, which whoever reads them recognises by that.
///
/// Thread: any, of each place one at a time.   Errors: std::bad_alloc.
class StartNotes {
 public:
  /// Reads what an earlier process has left; nothing if there was none. What is no note, as a loss
  /// of power has left half of it, is passed over.   Blocks: for the file.   Errors: SqliteError.
  [[nodiscard]] static std::vector<StartNote> left_in(const std::filesystem::path& directory);

  /// Begins a file of its own, without notes, in the place of the earlier one. A process that has
  /// lost the directory to this one cannot write any more.
  ///
  /// Errors: JournalRefused.
  explicit StartNotes(const std::filesystem::path& directory);
  ~StartNotes();
  StartNotes(const StartNotes&) = delete;
  StartNotes& operator=(const StartNotes&) = delete;

  /// Blocks: for a write of 64 bytes into the system's memory.   Errors: SqliteError: `in_use` when
  /// another process has the directory, which may start the same attempt.
  void write(std::size_t place, const JobId& id, Attempt attempt);

 private:
  [[nodiscard]] bool is_replaced() const noexcept;

  int file_ = -1;
};

}  // namespace heistd
