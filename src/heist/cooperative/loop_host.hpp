// LoopHost: an event loop of this library as the host of a cooperative scheduler.
#pragma once

#include <heist/cooperative_host.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/task_source.hpp>

#include "../loop/loop_core.hpp"

namespace HEIST_NAMESPACE::detail {

class CooperativeCore;

/// The host's message and timeout are plain tasks of the loop. They are made once, so that nothing
/// that the host does can fail. A new timeout replaces the one before.
///
/// Thread: the loop's; now(): any.
class LoopHost final : public CooperativeHost {
 public:
  explicit LoopHost(LoopCore& loop);

  /// To be called before anything else.
  void serve(CooperativeCore& core) noexcept { core_ = &core; }
  [[nodiscard]] LoopCore& loop() const noexcept { return *loop_; }
  /// A number for a task. No other task of the loop has it.
  [[nodiscard]] std::uint32_t new_number() noexcept;
  /// Says that the task with this number runs now. What the task leaves behind for later knows the
  /// number.
  void enter(std::uint32_t number) noexcept {
    loop_->on_agent().change_current({.cooperative_task = number});
  }
  [[nodiscard]] bool is_in(std::uint32_t number) const noexcept {
    return loop_->on_agent().current.cooperative_task == number;
  }
  /// Rounds a time to what the loop's clock would give: to the nanosecond.
  [[nodiscard]] static Milliseconds rounded(Milliseconds time) noexcept;
  /// Returns false when the loop closes. What is posted then is dropped at once.
  [[nodiscard]] bool accepts_tasks() const noexcept { return loop_->on_agent().accepts_posts; }

  void post_message() noexcept override;
  void set_timeout(Milliseconds delay) noexcept override;
  void clear_timeout() noexcept override;
  [[nodiscard]] Milliseconds now() const noexcept override { return loop_->time().now(); }
  [[nodiscard]] bool is_real_time() const noexcept override { return !loop_->time().is_virtual(); }

 private:
  /// A task that is posted again and again. While it is on the loop, it has a share of the core.
  struct Task final : SchedulerTask {
    using Act = void (*)(CooperativeCore&) noexcept;
    Task(LoopHost& of, TaskSource from, Act what) noexcept;
    static void run(LoopNode& node, LoopCore& loop) noexcept;
    static void drop(LoopNode& node) noexcept;
    static const LoopNodeOps table;

    LoopHost& host;
    TaskSource source;
    Act act;
  };

  void post(Task& task) noexcept;

  Ref<LoopCore> loop_;
  CooperativeCore* core_ = nullptr;
  Task message_;
  Task timeout_;
};

}  // namespace HEIST_NAMESPACE::detail
