// ChildProcess: a program that runs, in a process group of its own.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <heist/task_signal.hpp>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heistd {

/// A descriptor that is closed in the end.
class OwnedDescriptor {
 public:
  OwnedDescriptor() noexcept = default;
  explicit OwnedDescriptor(int number) noexcept : number_(number) {}
  OwnedDescriptor(OwnedDescriptor&& other) noexcept : number_(other.release()) {}
  OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~OwnedDescriptor();

  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

/// A program that was started with pipes, and what is left of it when it has ended. All of its
/// process group is killed before the program is waited for, so that nothing stays behind, and no
/// other group can have its number.
class ChildProcess {
 public:
  /// How the program ended.
  struct End {
    bool by_signal = false;
    int number = 0;  ///< the signal's, or the exit status
  };

  /// That it takes here while it is being started. Later it takes four of them.
  static constexpr std::size_t descriptors = 7;

  /// Starts it.   Thread: any.   Errors: JobFailure "command_not_started"; std::bad_alloc.
  ChildProcess(const std::vector<std::string>& words, const std::vector<std::string>& environment,
               std::size_t memory);
  /// Kills what is left.   Blocks: until the system has ended the program.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Kills the group.   Thread: any.   Blocks: never.
  void kill() noexcept;
  /// Gives the group the niceness of the signal's priority, where the system lets us. Of calls that
  /// overlap the last one reads it last.   Thread: any.
  void follow(const heist::TaskSignal& signal) noexcept;

  /// Kills what the program left behind, and says how it ended.
  ///
  /// Blocks: not when `ended` is readable.
  [[nodiscard]] End reap() noexcept;

  // Our ends.
  OwnedDescriptor input;
  OwnedDescriptor output;
  OwnedDescriptor errors;
  OwnedDescriptor ended;  ///< readable when the program has ended

 private:
  void start(const std::vector<std::string>& words, const std::vector<std::string>& environment);
  void limit_memory(std::size_t memory) const;

  std::mutex mutex_;  // so that no signal goes to a number that is another's by now
  pid_t pid_ = -1;    ///< while it has not been waited for
};

}  // namespace heistd
