// Parker: how an agent sleeps, and how another thread wakes it.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <optional>

#include "word_wait.hpp"

namespace HEIST_NAMESPACE::detail {

// Roles   agent: prepares, then waits.  waker: the one poster that replaced the inbox's asleep
//         mark.
// States  word_: awake -> asleep (agent, before it announces sleep in the inbox) -> awake (waker,
//         or agent).
// Edge park: describe -> notify. Carries the descriptor to write to. (That the agent prepared
// reaches its waker by the inbox's mark.)
// Edge park: unpark -> wait. Carries nothing the inbox does not carry; orders the wake-up with the
// wait. With a descriptor the wake-up is used up by reading the event, so the look at word_ behind
// it must see the waker's store: the system's lock on the event orders the two.
// Edge park: notified -> close, notified. Wakers are done with event_fd_ before it is closed.
// Edge park: close -> notified. So is the agent, when a waker closes it.
// Lifetime  a waker holds a share of the loop while it calls unpark(). Descriptors are closed with
//         their loop, but event_fd_ by the last waker at it: wakers_ counts them, and has a bit for
//         `closing`. With a descriptor (foreign loops) unpark() makes it readable, and a timer does
//         at the next expiry.
class Parker {
 public:
  using Clock = std::chrono::steady_clock;

  Parker() noexcept = default;
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;
  ~Parker();

  /// Agent, before announcing sleep.
  void prepare() noexcept;
  /// Agent: sleeps until unpark() or the deadline.   Blocks: yes.
  void wait(std::optional<Clock::time_point> deadline) noexcept;
  /// The waker. One system call.
  void unpark() noexcept;

  /// Agent: the descriptor, made on first use.   Errors: std::system_error.
  [[nodiscard]] int descriptor();
  [[nodiscard]] bool has_descriptor() const noexcept { return poll_fd_ >= 0; }
  /// The owner, once nobody waits any more.
  void close_descriptor() noexcept;
  /// Agent: makes it readable at the deadline, or never by time.
  void arm_descriptor(std::optional<Clock::time_point> deadline) noexcept;
  void clear_descriptor() noexcept;

 private:
  void poll_descriptor(std::optional<Clock::time_point> deadline) noexcept;
  void notify_descriptor() noexcept;
  void close_event() noexcept;

  static constexpr std::uint32_t closing = 1;
  static constexpr std::uint32_t one_waker = 2;
  static constexpr std::uint32_t awake = 0;
  static constexpr std::uint32_t asleep = 1;

  sync::atomic<std::uint32_t> word_{awake};
  sync::atomic<int> event_fd_{-1};
  sync::atomic<std::uint32_t> wakers_{0};
  int timer_fd_ = -1;
  int poll_fd_ = -1;
};

/// One step of a timed spin.
void spin_pause() noexcept;

}  // namespace HEIST_NAMESPACE::detail
