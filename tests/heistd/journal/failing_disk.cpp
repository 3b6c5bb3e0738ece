#include "failing_disk.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace heistd {
namespace {

std::function<int()> before_write_now;  // NOLINT(cert-err58-cpp)

::ssize_t write_or_fail(int file, const void* bytes, std::size_t size, ::off_t place) {
  if (const int error = before_write_now()) {
    errno = error;
    return -1;
  }
  return ::pwrite(file, bytes, size, place);
}

std::function<void()> before_read_now;  // NOLINT(cert-err58-cpp)

::ssize_t wait_and_read(int file, void* bytes, std::size_t size, ::off_t place) {
  before_read_now();
  return ::pread(file, bytes, size, place);
}

int open_for_reading(const char* path, int flags, int mode) {
  if ((flags & O_ACCMODE) == O_RDONLY) return ::open(path, flags, mode);
  errno = EACCES;
  return -1;
}

std::function<void(std::chrono::microseconds)> on_sleep_now;  // NOLINT(cert-err58-cpp)
int (*real_sleep)(::sqlite3_vfs*, int) = nullptr;

int do_not_sleep(::sqlite3_vfs* /*the default one*/, int microseconds) {
  on_sleep_now(std::chrono::microseconds(microseconds));
  return microseconds;
}

/// Null: the system's own. A name that SQLite does not use is ignored.
void set_call(const char* name, ::sqlite3_syscall_ptr function) {
  auto* const vfs = ::sqlite3_vfs_find(nullptr);
  vfs->xSetSystemCall(vfs, name, function);
}

/// Which of them SQLite uses depends on how it was built.
void set_write(::sqlite3_syscall_ptr function) {
  set_call("pwrite", function);
  set_call("pwrite64", function);
}

void set_read(::sqlite3_syscall_ptr function) {
  set_call("pread", function);
  set_call("pread64", function);
}

}  // namespace

FailingDisk::FailingDisk(std::function<int()> before_write) {
  before_write_now = std::move(before_write);
  set_write(reinterpret_cast<::sqlite3_syscall_ptr>(&write_or_fail));
}

FailingDisk::~FailingDisk() { set_write(nullptr); }

WaitingDisk::WaitingDisk(std::function<void()> before_read) {
  before_read_now = std::move(before_read);
  set_read(reinterpret_cast<::sqlite3_syscall_ptr>(&wait_and_read));
}

WaitingDisk::~WaitingDisk() { set_read(nullptr); }

ReadOnlyDisk::ReadOnlyDisk() {
  set_call("open", reinterpret_cast<::sqlite3_syscall_ptr>(&open_for_reading));
}

ReadOnlyDisk::~ReadOnlyDisk() { set_call("open", nullptr); }

InsteadOfSleeping::InsteadOfSleeping(std::function<void(std::chrono::microseconds)> on_sleep) {
  on_sleep_now = std::move(on_sleep);
  real_sleep = std::exchange(::sqlite3_vfs_find(nullptr)->xSleep, &do_not_sleep);
}

InsteadOfSleeping::~InsteadOfSleeping() { ::sqlite3_vfs_find(nullptr)->xSleep = real_sleep; }

}  // namespace heistd
