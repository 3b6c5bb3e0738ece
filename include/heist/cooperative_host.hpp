// CooperativeHost: what a cooperative scheduler needs of the loop it runs on; Slice and
// Milliseconds.
#pragma once

#include <heist/detail/durations.hpp>
#include <heist/detail/export.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE {

/// Durations and times of the cooperative scheduler, as the web has them.
using Milliseconds = std::chrono::duration<double, std::milli>;

/// What a callback is told of the slice of work it is called in.
struct Slice {
  /// Whether the task is late. A late task may run to the end of its work, or give way all the
  /// same.
  bool did_timeout = false;
  /// When should_yield() becomes true, on the scheduler's clock.
  Milliseconds deadline{};
};

/// The loop a CooperativeScheduler runs on, for loops that are not heist's.
///
/// Thread:   one, that of the loop. Nothing here is called from any other.
/// Lifetime: as long as the scheduler's last handle. Before it is destroyed while there are tasks,
///           it calls CooperativeScheduler::close().
class HEIST_EXPORT CooperativeHost {
 public:
  CooperativeHost() = default;
  CooperativeHost(const CooperativeHost&) = delete;
  CooperativeHost& operator=(const CooperativeHost&) = delete;
  virtual ~CooperativeHost() = default;

  /// Makes the loop call CooperativeScheduler::perform_work() soon, from the loop itself and not
  /// within this call. At most one such message is under way. It may be posted while an exception
  /// leaves perform_work().
  virtual void post_message() noexcept = 0;
  /// Makes the loop call CooperativeScheduler::expire_timeout() after this time. A timeout that was
  /// set before may be forgotten, or call it as well.
  virtual void set_timeout(Milliseconds delay) noexcept = 0;
  /// The timeout that was set last is not needed any more.
  virtual void clear_timeout() noexcept = 0;
  /// The time since any fixed point; it does not go back.
  [[nodiscard]] virtual Milliseconds now() const noexcept = 0;
  /// Whether now() goes as fast as std::chrono::steady_clock: should_yield() then reads a counter
  /// of the processor where it can.
  [[nodiscard]] virtual bool is_real_time() const noexcept { return false; }
};

}  // namespace HEIST_NAMESPACE
