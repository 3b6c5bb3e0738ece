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

/// Delays by the scheduler's own time: the loop's, less all the time for which it was suspended.
/// That stands still while it is suspended, so suspending and resuming touch no delay, and what is
/// left of each is exact however often they are called.
///
/// Roles   agent: of the loop; in a cluster the keeper. It makes every call.
/// Parts   early: armed before the first suspension. They are in the loop's wheel, and come here
///         when their tick has begun there, so in the order in which they end. later: in a wheel of
///         their own, whose ticks are nanoseconds.
/// I1      An early one was armed before every later one: of those that end together it is the
///         first.
/// I2      While the scheduler is not suspended and anything is here, the loop's wheel has `wake`,
///         for the tick at which the first one ends. It is of the loop's ticks: what ends is
///         rounded up once.
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
  bool may_have_ended = false;          ///< it is in that list

  /// `at` is when suspend() was called.
  void suspend(Time at) noexcept { suspended_ = std::max(at, resumed_); }
  /// `at` is when resume() was called. A task that arrived before its message may have been posted
  /// after that: then the suspension counts up to that post, so that the delay is not shorter.
  void resume(Time at) noexcept {
    resumed_ = std::max({at, last_post_, suspended_});
    lost_ += resumed_ - suspended_;
    suspended_ = never;
  }
  /// The loop's time at the scheduler's time `own`.   Precondition: it is not suspended.
  [[nodiscard]] Time on_loop(Time own) const noexcept {
    return own > Time::max() - lost_ ? Time::max() : own + lost_;
  }

  /// Adds a delay that was armed before the first suspension, and ends at that time.
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
    // A suspension that was noticed late can set the scheduler's time back, and the wheel gives out
    // nothing before that has come to the wheel's time again. The agent sleeps until then.
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
  /// then of their posts. After about so many steps it stops: see has_more_ended().
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
  /// Whether the last expire() has stopped before it came to the end.
  [[nodiscard]] bool has_more_ended() const noexcept { return has_more_ended_; }
  /// Takes all out, for a close.
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
  /// The scheduler's time at the loop's time `at`. Of the past it knows the last resume and the
  /// suspension after it. What was posted before that resume counts from it on, and so is never too
  /// short.
  [[nodiscard]] Time own(Time at) const noexcept {
    return std::min(std::max(at, resumed_), suspended_) - lost_;
  }
  /// Returns false when it has stopped before it came to the end.
  template <class End>
  [[nodiscard]] bool expire_wheel(Tick now, End& end, std::size_t most) noexcept {
    // What it has been given once it must not be given less: then nothing more has ended.
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
  Time lost_{};             ///< for which it was suspended, in all suspensions that are over
  Time resumed_{};          ///< when the last of them ended
  Time suspended_ = never;  ///< when the present one began
  Time last_post_{};        ///< of a task that arrived in a suspension
  bool has_more_ended_ = false;
};

}  // namespace HEIST_NAMESPACE::detail
