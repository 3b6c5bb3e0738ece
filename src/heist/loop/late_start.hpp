// LateStart: when an agent has to leave its CPU to an agent that it has woken.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/detail/ref.hpp>
#include <heist/detail/sync.hpp>
#include <heist/version.hpp>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// How often an agent has started after a sleep.
///
/// Roles     agent: counts.  waker: any thread; it reads, possibly after the agent's end.
/// Lifetime  counted.
class StartCount {
 public:
  void count_one() noexcept {
    // relaxed: one writer; readers only draw conclusions about time.
    count_.store(count_.load(sync::relaxed) + 1, sync::relaxed);
  }
  [[nodiscard]] std::uint64_t count() const noexcept {
    return count_.load(sync::relaxed);  // relaxed: as above.
  }

  friend void retain(StartCount& target) noexcept { target.references_.add(); }
  friend void release(StartCount& target) noexcept {
    if (target.references_.drop()) delete &target;
  }

 private:
  RefCount references_{1};
  sync::atomic<std::uint64_t> count_{0};
};

/// Tells an agent that looks for work whether the agent that it has woken last should have its CPU.
///
/// The system often puts a woken thread on the CPU of its waker, although another one is idle.
/// There it waits until the waker sleeps. So a waker that looks for work all the while, which only
/// the woken agent would bring, waits for itself (docs/adr/0047).
///
/// Thread: one, the waker.
class LateStart {
 public:
  using Clock = std::chrono::steady_clock;

  /// A start is late if the waker has looked for work for so long in vain.
  static constexpr std::chrono::microseconds patience{8};
  /// How often the waker leaves in a period at the most, because it costs up to 50 us.
  static constexpr unsigned most_in_a_period = 8;
  static constexpr std::chrono::milliseconds period{100};

  /// Called just before the agent whose starts these are is woken.
  void expect(Ref<StartCount> starts) noexcept {
    expected_ = std::move(starts);
    before_ = expected_->count();
  }
  [[nodiscard]] bool expects_one() const noexcept { return static_cast<bool>(expected_); }

  /// Whether the waker, which has looked for work from `begin` to `now`, is to leave its CPU. At
  /// most once for each wake-up.
  [[nodiscard]] bool should_leave(Clock::time_point begin, Clock::time_point now) noexcept {
    if (!expects_one() || now - begin < patience) return false;
    const Ref<StartCount> starts = std::exchange(expected_, {});
    return starts->count() == before_ && may_leave(now);
  }

 private:
  [[nodiscard]] bool may_leave(Clock::time_point now) noexcept {
    if (now - period_begin_ >= period) {
      period_begin_ = now;
      left_in_period_ = most_in_a_period;
    }
    if (left_in_period_ == 0) return false;
    --left_in_period_;
    return true;
  }

  Ref<StartCount> expected_;
  std::uint64_t before_ = 0;
  Clock::time_point period_begin_{};
  unsigned left_in_period_ = most_in_a_period;
};

}  // namespace HEIST_NAMESPACE::detail
