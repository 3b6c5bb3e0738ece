// Heist's timers. HeistTimers: timeouts, which the user keeps to clear them, as with the peers.
// HeistDelayedTasks: delayed posts; one that can be cancelled, by any thread, has a controller of
// its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <heist/task_signal.hpp>
#include <heist/timeout.hpp>
#include <utility>
#include <vector>

#include "../../completion.hpp"
#include "../heist.hpp"
#include "../last_word.hpp"

namespace bench {

class HeistTimers : public HeistSubject {
 public:
  using HeistSubject::HeistSubject;
  void reserve(std::int64_t count) { timeouts_.reserve(std::size_t(count)); }
  template <class F>
  void arm(std::chrono::nanoseconds delay, F&& f) {
    timeouts_.push_back(heist::set_timeout(std::forward<F>(f), delay));
  }
  void arm_cancellable(std::chrono::nanoseconds delay, Completion& gone) {
    arm(delay, [word = LastWord(gone)] { std::abort(); });
  }
  void cancel(std::int64_t index) {
    if (!timeouts_[std::size_t(index)].clear()) std::abort();
  }
  [[nodiscard]] std::int64_t count_armed() {
    return std::int64_t(agent().close(heist::CloseMode::abort()).aborted);
  }

 private:
  std::vector<heist::Timeout> timeouts_;
};

/// For those who ask for it: delays are rounded up to 10 us instead of a millisecond.
class HeistFineTimers : public HeistTimers {
 public:
  static constexpr const char* name = "heist_fine_tick";
  HeistFineTimers() : HeistTimers({.loop = {.tick = std::chrono::microseconds(10)}}) {}
};

class HeistDelayedTasks : public HeistSubject {
 public:
  static constexpr const char* name = "heist_post";
  void reserve(std::int64_t count) { controllers_.reserve(std::size_t(count)); }
  template <class F>
  void arm(std::chrono::nanoseconds delay, F&& f) {
    scheduler().post(std::forward<F>(f), {.delay = delay});
  }
  void arm_cancellable(std::chrono::nanoseconds delay, Completion& gone) {
    const auto& controller = controllers_.emplace_back();
    scheduler().post([word = LastWord(gone)] { std::abort(); },
                     {.signal = controller.signal(), .delay = delay});
  }
  void cancel(std::int64_t index) { controllers_[std::size_t(index)].abort(); }
  [[nodiscard]] std::int64_t count_armed() {
    return std::int64_t(agent().close(heist::CloseMode::abort()).aborted);
  }

 private:
  std::vector<heist::AbortController> controllers_;
};

}  // namespace bench
