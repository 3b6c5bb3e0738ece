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

#include "stress_run.hpp"

namespace heist::stress {

/// The waits of the calling thread. They are known only for the moments that were noted, so a
/// thread has to note moments often.
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
  /// How long the thread waited between `then` and the last moment that was noted. Waits of the
  /// interval in which `then` lies count for no longer than the part of it after `then`.
  [[nodiscard]] Time waited_since(Clock::time_point then) const {
    Time waited{};
    for (std::size_t back = 1; back < count_ && back < notes_.size(); ++back) {
      const Note& end = notes_[(count_ - back) % notes_.size()];
      const Note& begin = notes_[(count_ - back - 1) % notes_.size()];
      if (end.at <= then) break;
      waited += std::min(end.waited - begin.waited, std::min(end.at - begin.at, end.at - then));
    }
    return waited;
  }

 private:
  struct Note {
    Time waited{};
    Clock::time_point at;
  };

  OffCpu() : file_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {
    check(file_ >= 0, "the system keeps no schedstat");
  }
  ~OffCpu() { ::close(file_); }

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
  std::array<Note, 256> notes_{};
};

}  // namespace heist::stress
