// A disk that fails when it is told to, and that can lose what was not synced: a library to preload
// (LD_PRELOAD) into a program. bad_disk.py gives the orders.
//
// It concerns files in one folder only, and none whose name ends with "-shm": SQLite maps that one
// into memory and rebuilds it. libfiu, which Debian has, makes the same calls fail, but for all
// files and sockets of a process, and it cannot lose what was written.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace {

/// What the file of orders has. An error is a number as of errno, or 0.
struct Orders {
  std::int32_t error_of_writes = 0;
  std::int32_t error_of_syncs = 0;
  std::int32_t sync_milliseconds = 0;  ///< how long a sync takes, besides its own time
  std::int32_t read_milliseconds = 0;  ///< and a read
};

/// What undoes one write, before the bytes that it replaced.
struct UndoHead {
  std::int64_t offset;
  std::int64_t old_size;  ///< of the file
  std::int64_t bytes;
};

ssize_t plain_read(int file, void* bytes, std::size_t size, off_t offset) {
  return ::syscall(SYS_pread64, file, bytes, size, offset);
}

class BadDisk {
 public:
  [[nodiscard]] Orders orders() const {
    Orders now;
    const auto read = plain_read(orders_, &now, sizeof now, 0);
    return read == static_cast<ssize_t>(sizeof now) ? now : Orders();
  }
  /// The name of the file if the disk has it.
  [[nodiscard]] std::optional<std::string> name_of(int file) const {
    if (orders_ < 0) return std::nullopt;
    std::array<char, 4096> place{};
    const auto size = ::readlink(link_of(file).c_str(), place.data(), place.size());
    if (size <= 0) return std::nullopt;
    const std::string_view path(place.data(), static_cast<std::size_t>(size));
    if (!path.starts_with(folder_) || path.ends_with("-shm")) return std::nullopt;
    return std::string(path.substr(folder_.size()));
  }
  /// Remembers what a change of these bytes of the file will replace.
  void remember(const std::string& name, int file, off_t offset, off_t bytes) const {
    struct stat status{};
    if (::fstat(file, &status) != 0) std::abort();
    const auto kept = std::clamp<off_t>(status.st_size - offset, 0, bytes);
    const UndoHead head{offset, status.st_size, kept};
    std::string record(reinterpret_cast<const char*>(&head), sizeof head);
    record.resize(sizeof head + static_cast<std::size_t>(kept));
    const int read =
        ::open(link_of(file).c_str(), O_RDONLY | O_CLOEXEC);  // which `file` may not be
    if (plain_read(read, record.data() + sizeof head, static_cast<std::size_t>(kept), offset) !=
        kept)
      std::abort();
    ::close(read);
    const int undo =
        ::open((undo_ + name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (::write(undo, record.data(), record.size()) != static_cast<ssize_t>(record.size()))
      std::abort();
    ::close(undo);
  }
  void forget(const std::string& name) const { ::unlink((undo_ + name).c_str()); }

  /// Held from what is remembered of a change to its end.
  std::mutex mutex;

 private:
  static std::string link_of(int file) { return "/proc/self/fd/" + std::to_string(file); }
  static std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  }

  const std::string folder_ = variable("HEISTD_BAD_DISK_FOLDER") + "/";
  const std::string undo_ = variable("HEISTD_BAD_DISK_UNDO") + "/";
  const int orders_ = ::open(variable("HEISTD_BAD_DISK_ORDERS").c_str(), O_RDONLY | O_CLOEXEC);
};

BadDisk& disk() {
  static BadDisk the_disk;
  return the_disk;
}

ssize_t read_at(int file, void* bytes, std::size_t size, off_t offset) {
  if (disk().name_of(file)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(disk().orders().read_milliseconds));
  }
  return plain_read(file, bytes, size, offset);
}

ssize_t plain_write(int file, const void* bytes, std::size_t size, off_t offset) {
  return ::syscall(SYS_pwrite64, file, bytes, size, offset);
}

/// Half of what cannot be written is there all the same.
ssize_t write_at(int file, const void* bytes, std::size_t size, off_t offset) {
  const auto name = disk().name_of(file);
  if (!name) return plain_write(file, bytes, size, offset);
  const std::lock_guard lock(disk().mutex);
  disk().remember(*name, file, offset, static_cast<off_t>(size));
  const int error = disk().orders().error_of_writes;
  if (error == 0) return plain_write(file, bytes, size, offset);
  static_cast<void>(plain_write(file, bytes, size / 2, offset));
  errno = error;
  return -1;
}

int sync_by(long call, int file) {
  const auto name = disk().name_of(file);
  if (!name) return static_cast<int>(::syscall(call, file));
  const std::lock_guard lock(disk().mutex);
  const auto orders = disk().orders();
  std::this_thread::sleep_for(std::chrono::milliseconds(orders.sync_milliseconds));
  if (orders.error_of_syncs != 0) {
    errno = orders.error_of_syncs;
    return -1;
  }
  const auto done = static_cast<int>(::syscall(call, file));
  if (done == 0) disk().forget(*name);
  return done;
}

int cut(int file, off_t size) {
  const auto name = disk().name_of(file);
  if (!name) return static_cast<int>(::syscall(SYS_ftruncate, file, size));
  const std::lock_guard lock(disk().mutex);
  if (const int error = disk().orders().error_of_writes) {
    errno = error;
    return -1;
  }
  struct stat status{};
  if (::fstat(file, &status) == 0) {
    disk().remember(*name, file, size, std::max<off_t>(status.st_size - size, 0));
  }
  return static_cast<int>(::syscall(SYS_ftruncate, file, size));
}

}  // namespace

// What the C library has under these names. The functions that it has in C stay themselves.
extern "C" {
ssize_t pread(int file, void* bytes, std::size_t size, off_t offset) {
  return read_at(file, bytes, size, offset);
}
ssize_t pread64(int file, void* bytes, std::size_t size, off64_t offset) {
  return read_at(file, bytes, size, offset);
}
ssize_t pwrite(int file, const void* bytes, std::size_t size, off_t offset) {
  return write_at(file, bytes, size, offset);
}
ssize_t pwrite64(int file, const void* bytes, std::size_t size, off64_t offset) {
  return write_at(file, bytes, size, offset);
}
int fsync(int file) { return sync_by(SYS_fsync, file); }
int fdatasync(int file) { return sync_by(SYS_fdatasync, file); }
int ftruncate(int file, off_t size) noexcept { return cut(file, size); }
int ftruncate64(int file, off64_t size) noexcept { return cut(file, size); }
}
