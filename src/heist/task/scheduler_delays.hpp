// SchedulerDelays: the delays of a scheduler that has been suspended at least once (contract
// SUS-1).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <heist/detail/scheduler_task.hpp>

#include "task_queues.hpp"
#include "timer_wheel.hpp"

namespace HEIST_NAMESPACE::detail {

struct SchedulerCore;

/// These delays go by the scheduler's own time, which is the loop's time less all the time for
/// which the scheduler was suspended. It stands still during a suspension. So suspending and
/// resuming touch no delay, and what is left of each is exact however often they are called.
///
/// Roles   agent: the loop's; in a cluster the keeper. It makes every call.
/// Parts   early: delays that were armed before the first suspension. They are in the loop's wheel,
///         and come here when their tick has begun there, that is, in the order of their ends.
///         later: all others. They are in a wheel of their own, whose ticks are nanoseconds.
/// I1      An early delay was armed before every later one, so of delays that end together it is
///         the first.
/// I2      While the scheduler is not suspended and anything is here, `wake` is in the loop's wheel
///         for the tick at which the first delay ends. That is a tick of the loop, so an end is
///         rounded up only once.
/// Bound   16 KiB, made ahead by whoever suspends. suspend, resume, arm, cancel: O(1).
/// Proof   tests/loop/suspended_delays_test.cpp
class SchedulerDelays {
 public:
  using Time = std::chrono::nanoseconds;
  static constexpr Time never = Time::max();

  /// Stands in the loop's wheel for the delays that are here.
  struct Wake : SchedulerTask {
    Wake() noexcept : SchedulerTask(table, false) {}
    static constexpr LoopNodeOps table{LoopNodeKind::task, nullptr, nullptr};
  };
  Wake wake;
  SchedulerCore* next_ended = nullptr;  ///< in the list of schedulers whose delays may have ended
  bool may_have_ended = false;          ///< the scheduler is in that list

  /// `at` is when suspend() was called.
  void suspend(Time at) noexcept { suspended_ = std::max(at, resumed_); }
  /// `at` is when resume() was called. A task that arrived before the message of that call may have
  /// been posted after the call. Then the suspension lasts until that post, so that the task's
  /// delay does not become shorter.
  void resume(Time at) noexcept {
    resumed_ = std::max({at, last_post_, suspended_});
    lost_ += resumed_ - suspended_;
    suspended_ = never;
  }
  /// The loop's time at the scheduler's time `own`.   Precondition: the scheduler is not suspended.
  [[nodiscard]] Time on_loop(Time own) const noexcept {
    return own > Time::max() - lost_ ? Time::max() : own + lost_;
  }

  /// Adds a delay that was armed before the first suspension, and ends at the time `end`.
  void push_early(SchedulerTask& task, Time end) noexcept {
    task.place = TaskPlace::delayed_longer;
    task.key = static_cast<Tick>(end.count());
    early_.push_back(task);
  }
  /// Arms a task that arrives. Its key and its time of posting are still those of its poster.
  void arm(SchedulerTask& task) noexcept {
    task.place = TaskPlace::delayed_by_scheduler;
    const Time posted{task.posted_at};
    if (suspended_ != never) last_post_ = std::max(last_post_, posted);
    const auto passed = static_cast<Tick>(task.posted_at);
    const Tick own_end = task.key == no_tick
                             ? no_tick
                             : static_cast<Tick>(own(posted).count()) + (task.key - passed);
    // A suspension that was noticed late can set the scheduler's time back. Then the wheel hands
    // out nothing until that time has come to the wheel's time again. The agent sleeps until then.
    wheel_.arm(task, std::max(own_end, wheel_.now()));
  }
  void cancel(SchedulerTask& task) noexcept {
    task.place == TaskPlace::delayed_longer ? early_.erase(task) : wheel_.cancel(task);
    task.place = TaskPlace::elsewhere;
  }
  /// When the first delay ends, by the scheduler's time; Time::max() when none does.
  [[nodiscard]] Time first_end() const noexcept {
    const SchedulerTask* early = early_.front();
    const Tick first = std::min(early != nullptr ? early->key : no_tick, wheel_.next_expiry());
    return first > static_cast<Tick>(Time::max().count()) ? Time::max()
                                                          : Time(static_cast<std::int64_t>(first));
  }
  /// Gives every delay that has ended by now to `end(SchedulerTask&)`, in the order of their ends,
  /// then of their posts. It stops after about `most` steps: see has_more_ended().
  template <class End>
  void expire(Time loop_now, End&& end, std::size_t most) noexcept {
    const auto now = static_cast<Tick>(own(loop_now).count());
    has_more_ended_ = true;
    for (; !early_.empty() && early_.front()->key <= now; --most) {
      SchedulerTask& first = *early_.front();
      if (most == 0 || (first.key != 0 && !expire_wheel(first.key - 1, end, most))) return;
      early_.pop_front();
      first.place = TaskPlace::elsewhere;
      end(first);
    }
    has_more_ended_ = !expire_wheel(now, end, most);
  }
  /// Whether the last expire() stopped before it had handed out all that had ended.
  [[nodiscard]] bool has_more_ended() const noexcept { return has_more_ended_; }
  /// Takes everything out, for a close.
  template <class Take>
  void drain(Take&& take) noexcept {
    while (SchedulerTask* task = early_.front()) {
      cancel(*task);
      take(*task);
    }
    wheel_.drain([&](LoopNode& node) noexcept {
      auto& task = static_cast<SchedulerTask&>(node);
      task.place = TaskPlace::elsewhere;
      take(task);
    });
  }

 private:
  /// The scheduler's time at the loop's time `at`. Of the past it knows only the last resume and
  /// the suspension after it. A delay that was posted before that resume counts from the resume, so
  /// it is never too short.
  [[nodiscard]] Time own(Time at) const noexcept {
    return std::min(std::max(at, resumed_), suspended_) - lost_;
  }
  /// Returns false when it stopped before it had handed out all that had ended.
  template <class End>
  [[nodiscard]] bool expire_wheel(Tick now, End& end, std::size_t most) noexcept {
    // The wheel must not be given an earlier time than before. If it would, nothing more has ended.
    if (now < wheel_.now() || now < wheel_.next_expiry()) return true;
    const auto end_one = [&](LoopNode& node) noexcept {
      auto& task = static_cast<SchedulerTask&>(node);
      task.place = TaskPlace::elsewhere;
      end(task);
    };
    wheel_.expire(now, end_one, most);
    return now < wheel_.next_expiry();
  }

  TaskFifo early_;
  TimerWheel wheel_;
  Time lost_{};             ///< the length of all suspensions that are over
  Time resumed_{};          ///< when the last of them ended
  Time suspended_ = never;  ///< when the present one began
  Time last_post_{};        ///< the latest post of a task that arrived in a suspension
  bool has_more_ended_ = false;
};

}  // namespace HEIST_NAMESPACE::detail
