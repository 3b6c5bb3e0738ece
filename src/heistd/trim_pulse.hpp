// TrimPulse: when a journal forgets old jobs, though none ends.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <heistd/job_keeper.hpp>

namespace heistd {

/// Has a journal look for finished jobs and keys that are too old, at a steady interval, as a
/// server to which nobody comes has no ends of jobs with which that is done. Without a journal it
/// does nothing.
///
/// Thread: the network's.
class TrimPulse {
 public:
  using Clock = std::chrono::steady_clock;

  /// `age`: of JournalBounds. They go within a tenth of it, a second at the least and a minute at
  /// the most.
  TrimPulse(JobKeeper* keeper, std::chrono::milliseconds age, boost::asio::io_context& io);

  /// To be called after each event of the network. False when it is to be called again soon, as
  /// there was no memory for a timer.
  [[nodiscard]] bool beat(Clock::time_point now = Clock::now()) noexcept;

  [[nodiscard]] std::chrono::milliseconds interval() const noexcept { return interval_; }

 private:
  JobKeeper* const keeper_;
  const std::chrono::milliseconds interval_;
  boost::asio::steady_timer timer_;
  Clock::time_point next_;
};

}  // namespace heistd
