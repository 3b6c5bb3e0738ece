// libuv: a queue under a mutex and uv_async_send(), the only call that its guide allows from other
// threads; sends coalesce, so the callback takes the whole queue.
#pragma once

#include <uv.h>

#include <thread>
#include <utility>

#include "handoff_queue.hpp"

namespace bench {

class UvSubject {
 public:
  static constexpr const char* name = "libuv";
  UvSubject() {
    uv_loop_init(&loop_);
    async_.data = &queue_;
    uv_async_init(&loop_, &async_,
                  [](uv_async_t* async) { static_cast<HandoffQueue*>(async->data)->run(); });
    thread_ = std::thread([this] { uv_run(&loop_, UV_RUN_DEFAULT); });
  }
  UvSubject(const UvSubject&) = delete;
  UvSubject& operator=(const UvSubject&) = delete;
  ~UvSubject() { close(); }
  /// Ends the worker; what is armed stays so. Calls after the first do nothing.
  void finish() {
    if (!thread_.joinable()) return;
    post([this] { uv_stop(&loop_); });
    thread_.join();
  }
  /// Closes all handles, which then are the user's again. Calls after the first do nothing.
  void close() {
    if (std::exchange(closed_, true)) return;
    finish();
    const auto close_handle = [](uv_handle_t* handle, void*) { uv_close(handle, nullptr); };
    uv_walk(&loop_, close_handle, nullptr);
    uv_run(&loop_, UV_RUN_DEFAULT);
    uv_loop_close(&loop_);
  }
  template <class F>
  void post(F&& f) {
    if (queue_.push(std::forward<F>(f))) uv_async_send(&async_);
  }
  [[nodiscard]] uv_loop_t& loop() noexcept { return loop_; }

 private:
  HandoffQueue queue_;
  uv_loop_t loop_{};
  uv_async_t async_{};
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace bench
