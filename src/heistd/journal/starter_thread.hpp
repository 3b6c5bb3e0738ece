// StarterThread: does what starts jobs in the order of their priorities.
#pragma once

#include <heist/priority.hpp>
#include <heistd/journal/journal_thread.hpp>
#include <memory>

namespace heistd {

/// Does the most urgent task first, and those of one priority in the order in which they came: to
/// read the uploads of many background jobs takes longer than an urgent one may wait.
///
/// Thread: the network's.
class StarterThread {
 public:
  /// Errors: std::system_error without a thread.
  StarterThread();

  /// Blocks: never for longer than it takes to link a list.   Errors: std::bad_alloc.
  void post(heist::TaskPriority priority, std::unique_ptr<JournalTask> task);

 private:
  void run(JournalThread::Tasks tasks) noexcept;

  JournalThread thread_;
};

}  // namespace heistd
