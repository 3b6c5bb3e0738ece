// OffCpu: how long a thread has waited for a processor since some time. The system causes such
// waits, and not the runtime.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "stress_run.hpp"

namespace heist::stress {

/// The waits of one thread. They are known only for the moments that were noted, so a thread has to
/// note moments often.
class OffCpu {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = std::chrono::nanoseconds;

  static OffCpu& of_this_thread() {
    thread_local OffCpu one;
    return one;
  }

  /// Notes this moment, and returns it.
  Clock::time_point note() {
    // The waits are read first, so that a wait between the two reads is not counted here.
    const Note now{.waited = read(), .at = Clock::now()};
    notes_[count_++ % notes_.size()] = now;
    return now.at;
  }
  /// How long the thread waited between `then` and the last moment that was noted.
  [[nodiscard]] Time waited_since(Clock::time_point then) const {
    return waited_between(then, Clock::time_point::max());
  }
  /// How long the thread that waited longest of all that note their waits did so between the two.
  ///
  /// Thread: any, while the others note nothing.
  [[nodiscard]] static Time most_waited_between(Clock::time_point then, Clock::time_point end) {
    Time most{};
    for (const OffCpu* one : all) most = std::max(most, one->waited_between(then, end));
    return most;
  }

 private:
  /// Of the waits that were noted first after `then` it counts no more than what was left of the
  /// time, and so it does of those that were noted first after `end`.
  [[nodiscard]] Time waited_between(Clock::time_point then, Clock::time_point end) const {
    Time waited{};
    for (std::size_t back = 1; back < count_ && back < notes_.size(); ++back) {
      const Note& late = notes_[(count_ - back) % notes_.size()];
      const Note& early = notes_[(count_ - back - 1) % notes_.size()];
      if (late.at <= then) break;
      if (early.at >= end) continue;
      const Time common = std::min(late.at, end) - std::max(early.at, then);
      waited += std::min(late.waited - early.waited, common);
    }
    return waited;
  }

  struct Note {
    Time waited{};
    Clock::time_point at;
  };

  OffCpu() : file_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {
    check(file_ >= 0, "the system keeps no schedstat");
    const std::scoped_lock lock(guards_all);
    all.push_back(this);
  }
  ~OffCpu() {
    const std::scoped_lock lock(guards_all);
    std::erase(all, this);
    ::close(file_);
  }

  /// The file has "time on the CPU, time waited for it, ...".
  [[nodiscard]] Time read() const {
    std::array<char, 128> text{};
    const auto length = ::pread(file_, text.data(), text.size(), 0);
    check(length > 0, "the system keeps no schedstat");
    const char* const end = text.data() + length;
    std::int64_t ran = 0;
    std::int64_t waited = 0;
    const auto first = std::from_chars(text.data(), end, ran);
    const auto second = std::from_chars(first.ptr + 1, end, waited);
    check(second.ec == std::errc(), "no schedstat");
    return Time(waited);
  }

  const int file_;
  std::size_t count_ = 0;
  std::array<Note, 8192> notes_{};

  static inline std::mutex guards_all;
  static inline std::vector<const OffCpu*> all;  ///< of all threads that are alive
};

}  // namespace heist::stress
