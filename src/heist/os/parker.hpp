// Parker: puts an agent to sleep, and lets another thread wake it.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <optional>

#include "word_wait.hpp"

namespace HEIST_NAMESPACE::detail {

// Roles   agent: prepares, then waits.  waker: the one poster that replaced the inbox's asleep
//         mark.
// States  word_: awake -> asleep (stored by the agent, before it announces sleep in the inbox) ->
//         awake (stored by the waker or the agent).
// Edge park: describe -> notify. Carries the descriptor to write to. (The inbox's mark tells the
//         waker that the agent has prepared.)
// Edge park: unpark -> wait. Carries nothing that the inbox does not carry; it orders the wake-up
//         with the wait. With a descriptor, reading the event uses the wake-up up. So the agent's
//         next look at word_ must see the waker's store: the system's lock on the event orders the
//         two.
// Edge park: notified -> close, notified. Wakers have finished with event_fd_ before it is closed.
// Edge park: close -> notified. The agent has finished with it, too, when a waker closes it.
// Lifetime  A waker holds a share of the loop while it calls unpark(). Descriptors are closed with
//         their loop, except that the last waker at event_fd_ closes that one: wakers_ counts the
//         wakers, and has a bit for `closing`. With a descriptor (foreign loops) unpark() makes it
//         readable, and a timer does so at the next expiry.
class Parker {
 public:
  using Clock = std::chrono::steady_clock;

  Parker() noexcept = default;
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;
  ~Parker();

  /// Called by the agent, before it announces sleep.
  void prepare() noexcept;
  /// Called by the agent: sleeps until unpark() or the deadline.   Blocks: yes.
  void wait(std::optional<Clock::time_point> deadline) noexcept;
  /// Called by the waker. Costs one system call.
  void unpark() noexcept;

  /// Called by the agent: the descriptor, which is made on first use.   Errors: std::system_error.
  [[nodiscard]] int descriptor();
  [[nodiscard]] bool has_descriptor() const noexcept { return poll_fd_ >= 0; }
  /// Called by the owner, once nobody waits any more.
  void close_descriptor() noexcept;
  /// Called by the agent: lets it become readable at the deadline, or at no time when there is
  /// none.
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
