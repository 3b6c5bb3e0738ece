// ContextHost: an io_context inside of an agent.
#pragma once

#include <cstddef>
#include <heist/agent_host.hpp>
#include <heist/asio/library.hpp>
#include <heist/detail/durations.hpp>
#include <heist/detail/report_error.hpp>
#include <heist/event_loop.hpp>

namespace HEIST_ASIO_NAMESPACE {

/// The host of one agent, see AgentContexts. The agent sleeps in the io_context, where its wake-ups
/// are one event of many.
class ContextHost final : public AgentHost {
 public:
  [[nodiscard]] net::io_context& context() noexcept { return context_; }
  /// Destroys the handlers that wait. Nothing runs here any more.
  void shut_down() noexcept { context_.shutdown(); }
  /// The one that the calling thread serves, or null.
  [[nodiscard]] static const ContextHost* here() noexcept { return here_; }
  /// Called before each handler. The io_context calls handlers within run_one(), in which it also
  /// waits, so that this thread may count as asleep until now.
  static void begin_handler() noexcept { end_wait(); }

  void begin(int wakeup_fd) override {
    wakeup_.assign(wakeup_fd);
    awaits_wakeup_ = false;
    here_ = this;
  }
  void poll() noexcept override {
    const TurnLimits limits;
    const auto end = std::chrono::steady_clock::now() + limits.time;
    for (std::size_t called = 0; called < limits.tasks; ++called) {
      const bool has_called = call_one([this] { return context_.poll_one(); });
      if (!has_called || std::chrono::steady_clock::now() >= end) return;
    }
  }
  void wait() noexcept override {
    static_cast<void>(call_one([this] {
      await_wakeup();
      return context_.run_one();
    }));
  }
  void end() noexcept override {
    here_ = nullptr;
    wakeup_.release();  // it belongs to the agent
  }

 private:
  /// The descriptor stays readable until the agent wakes. So the next wait for it begins with the
  /// agent's next sleep.
  void await_wakeup() {
    if (awaits_wakeup_) return;
    wakeup_.async_wait(net::posix::stream_descriptor::wait_read, [this](const error_code& error) {
      if (!error) awaits_wakeup_ = false;
    });
    awaits_wakeup_ = true;
  }
  /// Lets `run()` call a handler. What that throws goes to the error hook. Returns whether there
  /// was one.
  template <class Run>
  // NOLINTNEXTLINE(bugprone-exception-escape): what is thrown within goes to the error hook
  [[nodiscard]] static bool call_one(Run&& run) noexcept {
    bool has_called = true;
    const auto call = [&] { has_called = run() != 0; };
    detail::invoke_and_report(call, ErrorOrigin::task);
    return has_called;
  }

  static inline thread_local const ContextHost* here_ = nullptr;

  struct Context : net::io_context {
    using net::execution_context::shutdown;
    using net::io_context::io_context;
  };

  Context context_{1};  // one thread runs it, others may use it
  net::executor_work_guard<net::io_context::executor_type> work_{context_.get_executor()};
  net::posix::stream_descriptor wakeup_{context_};
  bool awaits_wakeup_ = false;
};

}  // namespace HEIST_ASIO_NAMESPACE
