// libevent's timers: events that the user keeps with what they are to call. Deleting one calls
// nothing.
#pragma once

#include <event2/event.h>
#include <event2/event_struct.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

#include "../../completion.hpp"
#include "../libevent.hpp"

namespace bench {

class EventTimers : public EventSubject {
 public:
  using EventSubject::EventSubject;
  ~EventTimers() {
    finish();
    for (auto& timer : timers_) evtimer_del(&timer.timeout);
  }
  /// For good, since events must stay where they are.
  void reserve(std::int64_t count) { timers_.reserve(std::size_t(count)); }
  template <class F>
  void arm(std::chrono::nanoseconds delay, F&& f) {
    start(delay, std::forward<F>(f), nullptr);
  }
  void arm_cancellable(std::chrono::nanoseconds delay, Completion& gone) {
    start(delay, [] { std::abort(); }, &gone);
  }
  void cancel(std::int64_t index) {
    auto& timer = timers_[std::size_t(index)];
    evtimer_del(&timer.timeout);
    timer.gone->add(1);
  }
  /// Documented for callbacks that take long; else the loop would sleep by its old time.
  void was_busy() { event_base_update_cache_time(base()); }
  [[nodiscard]] std::int64_t count_armed() {
    finish();
    std::int64_t armed = 0;
    for (auto& timer : timers_) armed += evtimer_pending(&timer.timeout, nullptr) != 0 ? 1 : 0;
    return armed;
  }

 private:
  struct Timer {
    event timeout;
    std::function<void()> call;
    Completion* gone;
  };

  template <class F>
  void start(std::chrono::nanoseconds delay, F&& f, Completion* gone) {
    auto& timer = timers_.emplace_back(Timer{{}, std::forward<F>(f), gone});
    evtimer_assign(
        &timer.timeout, base(),
        [](evutil_socket_t, short, void* argument) { static_cast<Timer*>(argument)->call(); },
        &timer);
    const auto rounded = std::chrono::ceil<std::chrono::microseconds>(delay).count();
    const timeval limit{.tv_sec = rounded / 1'000'000, .tv_usec = rounded % 1'000'000};
    evtimer_add(&timer.timeout, &limit);
  }

  std::vector<Timer> timers_;
};

/// For lateness: by default libevent reads a cheaper clock that moves every few milliseconds.
class PreciseEventTimers : public EventTimers {
 public:
  PreciseEventTimers() : EventTimers(EVENT_BASE_FLAG_PRECISE_TIMER) {}
};

}  // namespace bench
