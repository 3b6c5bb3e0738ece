// The clocks a history can be told by. Both keep one promise, on which every claim of the checker
// rests: when an after() is smaller than a before(), whatever its caller had done by then happened
// before, or is at least seen by, whatever the other one's caller did next.
#pragma once

#include <chrono>

#include "../timeline.hpp"

namespace heist::stress {

/// Counts its calls. Each is a read-modify-write of one word and so synchronizes with the next:
/// smaller means happens-before, in the C++ memory model, with no tie and no tolerance. It sees an
/// inversion of any length.
///
/// But for that very reason it orders the threads it observes: it hides a missing edge of the
/// runtime from ThreadSanitizer and a missing store-load barrier from everybody, and its line is
/// what a run with many agents waits for. A program should make some rounds without it.
class CounterClock {
 public:
  static constexpr Moment slack = 0;
  static constexpr const char* unit = "events";

  Moment before() noexcept { return time_.mark(); }
  Moment after() noexcept { return time_.mark(); }

 private:
  Timeline time_;
};

/// Nanoseconds of std::chrono::steady_clock; shares nothing between threads.
///
/// Time is not happens-before: a post's last store may still be in its processor's store buffer
/// when the poster reads the clock, and a pick's first load may have been made early. So after()
/// adds a slack that is far more than either lasts. It misses every inversion in which the
/// passed-over task had waited, before the pick began or after the other one started, for less than
/// the slack.
class SteadyClock {
 public:
  static constexpr Moment slack = 2000;
  static constexpr const char* unit = "ns";

  static Moment before() noexcept { return now(); }
  static Moment after() noexcept { return now() + slack; }

 private:
  static Moment now() noexcept {
    using std::chrono::nanoseconds;
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<Moment>(std::chrono::duration_cast<nanoseconds>(since).count());
  }
};

}  // namespace heist::stress
