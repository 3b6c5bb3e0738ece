// JournalThread: a thread that does what a journal is asked for.
#pragma once

#include <condition_variable>
#include <functional>
#include <heist/priority.hpp>
#include <heistd/journal/journal_error.hpp>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

namespace heistd {

/// Something that a journal was asked for.   Thread: that of the journal.
class JournalTask {
 public:
  JournalTask() = default;
  JournalTask(const JournalTask&) = delete;
  JournalTask& operator=(const JournalTask&) = delete;
  virtual ~JournalTask() = default;

  /// Does it, and keeps what it gives; called again when the transaction could not be committed.
  /// Errors: SqliteError, std::bad_alloc.
  virtual void apply() = 0;
  /// From now on the answer is this error.
  virtual void refuse(JournalError error) noexcept = 0;
  /// Answers. Nothing else is called after that.
  virtual void answer() noexcept = 0;

  /// Of the job that it is about, where that matters.
  heist::TaskPriority priority = heist::TaskPriority::user_visible;
};

/// Does a task that needs no transaction: it sees what was committed before it.
void do_alone(JournalTask& task) noexcept;

/// Hands tasks to a function that runs on a thread of its own, as many at a time as there are.
///
/// Thread: the network's, but for take(), which the function calls.
class JournalThread {
 public:
  using Tasks = std::list<std::unique_ptr<JournalTask>>;

  /// The system shows the name, of up to 15 characters, for the thread.
  ///
  /// Errors: std::system_error without a thread.
  JournalThread(const char* name, std::function<void(Tasks)> work);
  /// Blocks: until all that was posted is done.
  ~JournalThread();
  JournalThread(const JournalThread&) = delete;
  JournalThread& operator=(const JournalThread&) = delete;

  /// Blocks: never for longer than it takes to link a list.   Errors: std::bad_alloc.
  void post(std::unique_ptr<JournalTask> task);

  /// What was posted since the function was called, which may be nothing.
  [[nodiscard]] Tasks take() noexcept;

 private:
  void run();
  Tasks wait();

  const std::function<void(Tasks)> work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Tasks posted_;         ///< under the mutex
  bool ending_ = false;  ///< under the mutex
  std::thread thread_;
};

}  // namespace heistd
