// CooperativeHost: what a cooperative scheduler needs of the loop it runs on; Slice and Milliseconds.
#pragma once

#include <chrono>
#include <heist/detail/export.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE {

/// Durations and times of the cooperative scheduler, as the web has them.
using Milliseconds = std::chrono::duration<double, std::milli>;

/// What a callback is told of the slice of work it is called in.
struct Slice {
  /// The task is late: it runs to the end of its work, or gives way all the same, as it likes.
  bool did_timeout = false;
  /// When should_yield() becomes true, on the scheduler's clock.
  Milliseconds deadline{};
};

/// The loop a CooperativeScheduler runs on, for loops that are not heist's.
///
/// Thread: one, that of the loop. Nothing here is called from any other.   Lifetime: as the
/// scheduler's last handle. When it goes while there are tasks, it calls
/// CooperativeScheduler::close() before.
class HEIST_EXPORT CooperativeHost {
 public:
  CooperativeHost() = default;
  CooperativeHost(const CooperativeHost&) = delete;
  CooperativeHost& operator=(const CooperativeHost&) = delete;
  virtual ~CooperativeHost() = default;

  /// CooperativeScheduler::perform_work() is to be called soon, by the loop itself. At most one
  /// such message is under way. Also called while an exception passes.
  virtual void post_message() noexcept = 0;
  /// CooperativeScheduler::expire_timeout() is to be called after this time. One that was set
  /// before may be forgotten, or happen, too.
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
