// LoopHost: an io_context drives an EventLoop, so that one thread serves sockets and tasks.
#pragma once

#include <heist/asio/library.hpp>
#include <heist/event_loop.hpp>
#include <memory>

namespace HEIST_ASIO_NAMESPACE {

/// While it exists, whoever runs the io_context also runs the tasks of the loop, in turns of
/// limited length: between two turns the io_context serves what else is ready. No thread is
/// started. The io_context has work for as long, so `stop()` ends its `run()`.
///
/// Thread:   the io_context is run by one thread. This is made and destroyed on it, or while it
///           does not run.
/// Errors:   of the constructor: std::system_error, that of the library, std::bad_alloc.
/// Lifetime: the loop and the io_context outlive it.
/// Spec:     contract ASIO-7.
class LoopHost {
 public:
  /// From now on the io_context runs the tasks of the loop, as many in a turn as the limits say.
  LoopHost(net::io_context& io, EventLoop& loop, const TurnLimits& limits = {})
      : state_(std::make_shared<State>(io, loop, limits)) {
    wait(state_);
  }
  LoopHost(const LoopHost&) = delete;
  LoopHost& operator=(const LoopHost&) = delete;
  ~LoopHost() {
    state_->loop = nullptr;
    state_->descriptor.release();  // it belongs to the loop
  }

 private:
  struct State {
    State(net::io_context& io, EventLoop& hosted, const TurnLimits& turn)
        : loop(&hosted), limits(turn), descriptor(io, hosted.wakeup_fd()) {}

    EventLoop* loop;  ///< null once the host is gone
    TurnLimits limits;
    net::posix::stream_descriptor descriptor;
  };

  static void wait(const std::shared_ptr<State>& state) {
    state->descriptor.async_wait(net::posix::stream_descriptor::wait_read,
                                 [state](const error_code& error) {
                                   if (!error && state->loop != nullptr) turn(state);
                                 });
  }
  /// If something is left, the descriptor is readable, and the next turn comes after whatever else
  /// is ready.
  static void turn(const std::shared_ptr<State>& state) {
    state->loop->poll(state->limits);
    if (state->loop != nullptr) wait(state);  // a task may have ended the host
  }

  std::shared_ptr<State> state_;
};

}  // namespace HEIST_ASIO_NAMESPACE
