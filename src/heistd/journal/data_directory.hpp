// DataDirectory: the directory of a journal, which one server uses at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace heistd {

/// Holds the directory as long as it lives. The system lets go of it when the process ends, however
/// it does.
class DataDirectory {
 public:
  /// Makes the directory, for this user only, if it is not there.
  ///
  /// Errors: JournalRefused: `in_use`, `read_only`, `disk_full` or `io_failed`.
  explicit DataDirectory(const std::filesystem::path& path);
  ~DataDirectory();
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// Of the files in it.   Thread: any.   Blocks: while their sizes are read.
  [[nodiscard]] std::uint64_t bytes() const;
  /// What its disk has left for this user; nothing if that cannot be found.   Thread: any.
  [[nodiscard]] std::optional<std::uint64_t> free_bytes() const noexcept;

  /// Whether set_filled() has been called, by this server or one before it: then there is something
  /// to lose.   Errors: JournalRefused.
  [[nodiscard]] bool was_filled() const;
  /// Errors: JournalRefused.
  void set_filled() const;

 private:
  void sync_parent() const;
  [[noreturn]] void refuse() const;

  const std::filesystem::path path_;
  int lock_ = -1;  ///< the lock file's descriptor
};

}  // namespace heistd
