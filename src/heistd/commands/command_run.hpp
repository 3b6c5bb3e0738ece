// CommandRun: feeds a program its job's upload, and keeps what it says.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <exception>
#include <heist/jobs/result.hpp>
#include <heist/promise.hpp>
#include <heistd/blocks.hpp>
#include <heistd/commands/child_process.hpp>
#include <heistd/commands/command.hpp>
#include <heistd/commands/command_failures.hpp>
#include <heistd/job_failure.hpp>
#include <memory>
#include <optional>
#include <string>

namespace heistd {

/// One run of a program, until it has ended and its output is read.
///
/// Thread: the one that runs the io_context, from begin() on.   Lifetime: until then it keeps
///         itself; when the io_context goes first, the program is killed.
class CommandRun : public std::enable_shared_from_this<CommandRun> {
 public:
  CommandRun(boost::asio::io_context& io, std::shared_ptr<ChildProcess> process, Blocks input,
             const CommandLimits& limits, std::shared_ptr<CommandFailures> failures,
             heist::Resolver<heist::jobs::Result> resolver);

  void begin() noexcept;

 private:
  using Descriptor = boost::asio::posix::stream_descriptor;

  /// Calls it; what it throws, as without memory, ends the run.
  template <class Call>
  void guarded(Call call) noexcept;
  void write_on();
  void read_output();
  void keep_output(std::size_t bytes);
  void read_what_is_there();
  void read_errors();
  void keep_errors(std::size_t bytes);
  void await_end();
  void on_end();
  void set_timer(std::chrono::milliseconds time);
  void on_timer();
  void stop_late();
  void stop(CommandFailures::Why why, const JobFailure& failure);
  void finish_when_read();
  void finish() noexcept;
  void settle();
  [[nodiscard]] JobFailure failure_of(const ChildProcess::End& end) const;

  const std::shared_ptr<ChildProcess> process_;
  const CommandLimits limits_;
  const std::shared_ptr<CommandFailures> failures_;
  heist::Resolver<heist::jobs::Result> resolver_;
  Descriptor in_;
  Descriptor out_;
  Descriptor err_;
  Descriptor ended_;
  boost::asio::steady_timer timer_;
  Blocks input_;
  std::size_t next_ = 0;     ///< of the input's blocks
  std::size_t written_ = 0;  ///< of that block
  std::string block_;        ///< that output is read into
  std::size_t used_ = 0;     ///< of the block
  std::string error_block_;
  heist::jobs::Result result_{"", "application/octet-stream"};
  std::size_t output_bytes_ = 0;
  std::string tail_;  ///< of what it wrote to its stderr
  std::optional<ChildProcess::End> end_;
  std::exception_ptr why_;  ///< the job fails: why we killed it, or what was thrown here
  bool finished_ = false;
};

}  // namespace heistd
