// The clocks by which a history can be told. The checker rests on a promise that both keep. If an
// after() is smaller than a before(), all that the caller of after() had done by then happened
// before what the caller of before() does next, or that caller at least sees it.
#pragma once

#include <chrono>

#include "../timeline.hpp"

namespace heist::stress {

/// Counts its calls. Each is a read-modify-write of one word, and so synchronizes with the next. A
/// smaller moment means happens-before in the C++ memory model, without ties and tolerance. So it
/// sees an inversion of any length.
///
/// For the same reason it orders the threads that it observes. It hides a missing edge of the
/// runtime from ThreadSanitizer, and a missing store-load barrier from everybody. In a run with
/// many agents they wait for its cache line. A program should make some rounds without it.
class CounterClock {
 public:
  static constexpr Moment slack = 0;
  static constexpr const char* unit = "events";

  Moment before() noexcept { return time_.mark(); }
  Moment after() noexcept { return time_.mark(); }

 private:
  Timeline time_;
};

/// Gives the nanoseconds of std::chrono::steady_clock. It shares nothing between threads.
///
/// Time is not happens-before. A post's last store may still be in its processor's store buffer
/// when the poster reads the clock, and a pick's first load may have been made early. So after()
/// adds a slack that is far more than either lasts. The clock misses an inversion in which the task
/// that was passed over waited for less than the slack before the pick began, or after the other
/// task started.
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
