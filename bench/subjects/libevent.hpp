// libevent: locks for threads on, and a queue under a mutex with event_active() to wake the loop,
// which is documented as safe from other threads. event_base_once() for each task would need no
// queue, but allocates and takes the base's lock twice for each.
#pragma once

#include <event2/event.h>
#include <event2/thread.h>

#include <thread>
#include <utility>

#include "handoff_queue.hpp"

namespace bench {

class EventSubject {
 public:
  static constexpr const char* name = "libevent";
  explicit EventSubject(int flags = 0) {
    evthread_use_pthreads();
    event_config* config = event_config_new();
    event_config_set_flag(config, flags);
    base_ = event_base_new_with_config(config);
    event_config_free(config);
    wake_ = event_new(
        base_, -1, EV_PERSIST,
        [](evutil_socket_t, short, void* queue) { static_cast<HandoffQueue*>(queue)->run(); },
        &queue_);
    thread_ = std::thread([this] { event_base_loop(base_, EVLOOP_NO_EXIT_ON_EMPTY); });
  }
  EventSubject(const EventSubject&) = delete;
  EventSubject& operator=(const EventSubject&) = delete;
  ~EventSubject() {
    finish();
    event_free(wake_);
    event_base_free(base_);
  }
  /// Ends the worker; what is armed stays so. Calls after the first do nothing.
  void finish() {
    if (!thread_.joinable()) return;
    post([this] { event_base_loopbreak(base_); });
    thread_.join();
  }
  template <class F>
  void post(F&& f) {
    if (queue_.push(std::forward<F>(f))) event_active(wake_, EV_READ, 0);
  }
  [[nodiscard]] event_base* base() noexcept { return base_; }

 private:
  HandoffQueue queue_;
  event_base* base_ = nullptr;
  event* wake_ = nullptr;
  std::thread thread_;
};

}  // namespace bench
