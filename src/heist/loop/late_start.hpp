// LateStart: how an agent helps another one to start that it has woken.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <heist/detail/ref.hpp>
#include <heist/detail/sync.hpp>
#include <heist/version.hpp>
#include <optional>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// How often an agent has started after a sleep, and on which thread it sleeps.
///
/// Roles     agent: writes.  waker: any thread; it reads, possibly after the agent's end.
/// Lifetime  counted.
class Starts {
 public:
  void sleep_on(pid_t thread) noexcept {
    thread_.store(thread, sync::relaxed);  // relaxed: whoever misses it does nothing.
  }
  void end_sleep() noexcept {
    // relaxed, all: one writer; readers only draw conclusions about time.
    thread_.store(0, sync::relaxed);
    count_.store(count() + 1, sync::relaxed);
  }
  [[nodiscard]] std::uint64_t count() const noexcept {
    return count_.load(sync::relaxed);  // relaxed: as above.
  }
  /// Zero while the agent does not sleep, or sleeps in a foreign loop.
  [[nodiscard]] pid_t thread() const noexcept {
    return thread_.load(sync::relaxed);  // relaxed: as above.
  }

  friend void retain(Starts& target) noexcept { target.references_.add(); }
  friend void release(Starts& target) noexcept {
    if (target.references_.drop()) delete &target;
  }

 private:
  RefCount references_{1};
  sync::atomic<pid_t> thread_{0};
  sync::atomic<std::uint64_t> count_{0};
};

/// Helps an agent to start that this one has woken, while this one looks for work.
///
/// The system often puts a woken thread on the CPU of its waker, although another one is idle.
/// There it waits until the waker sleeps. If the waker looks for work meanwhile, which only the
/// woken agent would bring, both wait (docs/adr/0047). So the waker moves the other one to another
/// CPU.
///
/// Thread: one, the waker.
class LateStart {
 public:
  using Clock = std::chrono::steady_clock;

  /// A start is late if the waker has looked for work for so long in vain.
  static constexpr std::chrono::microseconds patience{8};
  /// How often the waker helps in a period at the most, because the other CPU may be halted, and
  /// then takes longer to start the agent than the waker takes to sleep.
  static constexpr unsigned most_in_a_period = 8;
  static constexpr std::chrono::seconds period{1};
  /// If the waker waits again only after so long, the other CPU was busy, and help is in vain for
  /// the rest of the period.
  static constexpr std::chrono::microseconds longest_start{200};

  /// Called just before the agent whose starts these are is woken.
  void expect(Ref<Starts> starts) noexcept {
    expected_ = std::move(starts);
    before_ = expected_->count();
  }
  /// Whose start is expected; null if nobody's is.
  [[nodiscard]] const Starts* expected() const noexcept { return expected_.get(); }

  /// Called when the waker begins to look for work.
  void begin_wait(Clock::time_point now) noexcept {
    if (helped_at_ && now - *helped_at_ > longest_start) left_in_period_ = 0;
    helped_at_.reset();
  }
  /// The thread that is to be moved, or zero, when the waker has looked for work from `begin` to
  /// `now`. It names a thread at most once for each wake-up.
  [[nodiscard]] pid_t late_thread(Clock::time_point begin, Clock::time_point now) noexcept {
    if (!expected_ || now - begin < patience) return 0;
    const Ref<Starts> starts = std::exchange(expected_, {});
    const pid_t thread = starts->thread();
    const bool is_late = thread != 0 && starts->count() == before_;
    return is_late && may_help(now) ? thread : 0;
  }

 private:
  [[nodiscard]] bool may_help(Clock::time_point now) noexcept {
    if (now - period_begin_ >= period) {
      period_begin_ = now;
      left_in_period_ = most_in_a_period;
    }
    if (left_in_period_ == 0) return false;
    --left_in_period_;
    helped_at_ = now;
    return true;
  }

  Ref<Starts> expected_;
  std::uint64_t before_ = 0;
  std::optional<Clock::time_point> helped_at_;
  Clock::time_point period_begin_{};
  unsigned left_in_period_ = most_in_a_period;
};

}  // namespace HEIST_NAMESPACE::detail
