// FailingDisk: what SQLite writes to files fails, or waits.
#pragma once

#include <chrono>
#include <functional>

namespace heistd {

/// While it lives, SQLite asks `before_write` before each write to a file. Zero lets it write, and
/// an error number is what the system is to have answered.   Lifetime: one at a time, while no
/// journal is asked for anything as it begins and ends.
class FailingDisk {
 public:
  explicit FailingDisk(std::function<int()> before_write);
  FailingDisk(const FailingDisk&) = delete;
  FailingDisk& operator=(const FailingDisk&) = delete;
  ~FailingDisk();
};

/// While it lives, SQLite calls `before_read` before each read of a file.   Lifetime: as that of a
/// FailingDisk.
class WaitingDisk {
 public:
  explicit WaitingDisk(std::function<void()> before_read);
  WaitingDisk(const WaitingDisk&) = delete;
  WaitingDisk& operator=(const WaitingDisk&) = delete;
  ~WaitingDisk();
};

/// While it lives, SQLite may open files for reading only.   Lifetime: as that of a FailingDisk.
class ReadOnlyDisk {
 public:
  ReadOnlyDisk();
  ReadOnlyDisk(const ReadOnlyDisk&) = delete;
  ReadOnlyDisk& operator=(const ReadOnlyDisk&) = delete;
  ~ReadOnlyDisk();
};

/// While it lives, `on_sleep` is called instead of each sleep in which SQLite waits for a lock, and
/// is told how long that would take.   Lifetime: as that of a FailingDisk.
class InsteadOfSleeping {
 public:
  explicit InsteadOfSleeping(std::function<void(std::chrono::microseconds)> on_sleep);
  InsteadOfSleeping(const InsteadOfSleeping&) = delete;
  InsteadOfSleeping& operator=(const InsteadOfSleeping&) = delete;
  ~InsteadOfSleeping();
};

}  // namespace heistd
