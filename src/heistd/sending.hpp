// Sending: how far a reply has come.
#pragma once

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <heistd/pace.hpp>

namespace heistd {

/// The pace of a reply, by what the client's system has taken of it. A write tells only that a good
/// part of the socket's buffer has become free, which takes a slow reader longer than it may stand
/// still.
class Sending {
 public:
  Sending(const Limits& limits, Clock::time_point now, int socket) noexcept
      : pace_(limits, now), socket_(socket) {}

  void add(std::uint64_t bytes) noexcept { written_ += bytes; }
  /// As of Pace.
  void excuse(Clock::duration waited) noexcept { pace_.excuse(waited); }
  [[nodiscard]] Clock::time_point deadline(Clock::time_point now) const {
    return pace_.deadline(now, taken_);
  }
  /// Whether more has been taken since the last call.
  [[nodiscard]] bool gets_on() noexcept {
    int unsent = 0;
    if (::ioctl(socket_, SIOCOUTQ, &unsent) != 0) return false;
    const auto before = taken_;
    taken_ = written_ - std::min(written_, static_cast<std::uint64_t>(unsent));
    return taken_ > before;
  }

 private:
  Pace pace_;
  const int socket_;
  std::uint64_t written_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace heistd
