// libuv's uv_timer_t, which the user keeps with what it is to call. Stopping one calls nothing.
#pragma once

#include <uv.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

#include "../../completion.hpp"
#include "../libuv.hpp"

namespace bench {

class UvTimers : public UvSubject {
 public:
  ~UvTimers() { close(); }
  /// For good, since handles must stay where they are.
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
    uv_timer_stop(&timer.handle);
    timer.gone->add(1);
  }
  /// Documented for callbacks that block the loop for long; else it would sleep by its old time.
  void was_busy() { uv_update_time(&loop()); }
  [[nodiscard]] std::int64_t count_armed() {
    finish();
    std::int64_t armed = 0;
    for (auto& timer : timers_)
      armed += uv_is_active(reinterpret_cast<uv_handle_t*>(&timer.handle));
    return armed;
  }

 private:
  struct Timer {
    uv_timer_t handle;
    std::function<void()> call;
    Completion* gone;
  };

  template <class F>
  void start(std::chrono::nanoseconds delay, F&& f, Completion* gone) {
    auto& timer = timers_.emplace_back(Timer{{}, std::forward<F>(f), gone});
    uv_timer_init(&loop(), &timer.handle);
    timer.handle.data = &timer;
    const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(delay).count();
    uv_timer_start(
        &timer.handle, [](uv_timer_t* handle) { static_cast<Timer*>(handle->data)->call(); },
        std::uint64_t(rounded), 0);
  }

  std::vector<Timer> timers_;
};

}  // namespace bench
