// JobLog: a line of JSON for each job that has ended.
#pragma once

#include <cstddef>
#include <heistd/client.hpp>
#include <heistd/job.hpp>
#include <heistd/job_summary.hpp>
#include <memory>
#include <string>

namespace spdlog {
class logger;
namespace details {
class thread_pool;
}
namespace sinks {
class sink;
}
}  // namespace spdlog

namespace heistd {

struct LostLines;

/// Where an operator finds what became of a job, and which request brought it.
///
/// A thread of its own writes the lines, so that nobody waits for a slow disk or a full pipe. When
/// it falls behind by more than `most_behind` lines, there is no memory for one, or the disk is
/// full, lines are lost; then the log says how many. One that was written in part goes on where it
/// was cut off, unless the log is reopened before that: then it counts as lost.
///
/// Thread: the network's.
class JobLog {
 public:
  static constexpr std::size_t most_behind = 8192;

  /// Adds to the end of the file, which is made if need be. "-" is standard error; without a name
  /// there is no log, and no thread.
  ///
  /// Errors: std::system_error when the file cannot be written.
  explicit JobLog(const std::string& file);
  /// Blocks: until what was said is written, but for no more than a second.
  ~JobLog();
  JobLog(const JobLog&) = delete;
  JobLog& operator=(const JobLog&) = delete;

  /// What is said from now on goes to a new file of that name, as the old one may have been moved
  /// away. When that cannot be had, the old one is kept.
  ///
  /// Errors: std::system_error.   Blocks: while the file is opened.
  void reopen();

  /// Cost, also below: nothing without a log, and else that of describing the job in JSON.
  void job_ended(const Client& client, const Job& job) noexcept;
  /// Of a job that never got a Job, as it ended while it waited.
  void job_ended(const Client& client, const JobSummary& job) noexcept;
  /// Of one of which only a record was left when its signal was deleted: how many bytes it had, and
  /// which request brought it, is not known any more.
  void job_dropped(const Client& client, const WaitingJob::Id& id, const JobLine& line) noexcept;
  [[nodiscard]] bool is_open() const noexcept { return logger_ != nullptr; }

 private:
  template <class Describe>
  void write(const Client& client, Describe describe) noexcept;
  std::shared_ptr<spdlog::logger> open() const;
  void say_farewell();
  std::shared_ptr<spdlog::logger> logger_to(std::shared_ptr<spdlog::sinks::sink> sink) const;

  const std::string file_;
  std::shared_ptr<spdlog::details::thread_pool> thread_;
  std::shared_ptr<LostLines> lost_;
  std::shared_ptr<spdlog::logger> logger_;  ///< null without a log
};

}  // namespace heistd
