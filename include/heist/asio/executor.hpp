// Executor: runs handlers of Asio as tasks of a scheduler, at a priority.
#pragma once

#include <cstddef>
#include <heist/agent_cluster.hpp>
#include <heist/asio/handler_task.hpp>
#include <heist/asio/properties.hpp>
#include <heist/asio/task_context.hpp>
#include <heist/asio/tracked_work.hpp>
#include <heist/detail/report_error.hpp>
#include <heist/scheduler.hpp>
#include <heist/yield_if_urgent.hpp>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace HEIST_ASIO_NAMESPACE {

/// An executor of Asio whose handlers are tasks of a Scheduler. It has the standard properties, may
/// be stored in `any_io_executor`, and takes priority() and signal().
///
/// Make sockets and timers on an io_context, and let only their handlers come here, with
/// `bind_executor`. On this executor they would make Asio start a thread (TaskContext).
///
/// Thread:   any; one handle is used by one thread at a time, copies may be anywhere.
/// Blocks:   never.
/// Lifetime: may outlive its loop: handlers are destroyed then, as by a shutdown.
/// Spec:     contract ASIO-1...5, ADR 0049.
class Executor {
  using Blocking = net::execution::blocking_t;
  using Relationship = net::execution::relationship_t;
  using OutstandingWork = net::execution::outstanding_work_t;
  using Mapping = net::execution::mapping_t;
  template <class T>
  using AllocatorOf = net::execution::allocator_t<T>;

 public:
  Executor(TaskContext& context, Scheduler scheduler) noexcept
      : context_(&context), scheduler_(std::move(scheduler)) {}
  Executor(TaskContext& context, const AgentCluster& cluster) noexcept
      : context_(&context), scheduler_(cluster.scheduler()), occupancy_(cluster.size()) {}
  // Asio asks for a copy that is noexcept. This one is, although that of std::optional does not say
  // so: it counts references.
  Executor(const Executor&) noexcept = default;
  Executor(Executor&&) noexcept = default;
  Executor& operator=(const Executor&) noexcept = default;
  Executor& operator=(Executor&&) noexcept = default;
  ~Executor() = default;

  /// Runs `function()` as a task. With `blocking.possibly` it is called at once if a handler of
  /// this scheduler runs here, one that is not more urgent, and nothing more urgent waits. What it
  /// throws goes to the error hook. On a closed loop it is destroyed.
  ///
  /// Thread: any, lock-free.   Errors: std::bad_alloc.   Cost: that of Scheduler::post.
  template <class Function>
  void execute(Function&& function) const {
    if (is_possibly_blocking_ && may_run_here()) return call(std::forward<Function>(function));
    HandlerTask<std::decay_t<Function>> task{std::forward<Function>(function), urgency_};
    if (urgency_.follower) {
      scheduler_.post(std::move(task), {.signal = urgency_.follower});
    } else {
      scheduler_.post(std::move(task), {.priority = urgency_.fixed});
    }
  }

  [[nodiscard]] Executor require(Blocking::possibly_t /*property*/) const noexcept {
    return changed([](Executor& self) { self.is_possibly_blocking_ = true; });
  }
  [[nodiscard]] Executor require(Blocking::never_t /*property*/) const noexcept {
    return changed([](Executor& self) { self.is_possibly_blocking_ = false; });
  }
  /// A hint, which changes nothing: a handler has its place behind those of its priority.
  [[nodiscard]] Executor require(Relationship::continuation_t /*property*/) const noexcept {
    return changed([](Executor& self) { self.is_continuation_ = true; });
  }
  [[nodiscard]] Executor require(Relationship::fork_t /*property*/) const noexcept {
    return changed([](Executor& self) { self.is_continuation_ = false; });
  }
  /// Counts in TaskContext::outstanding_work(). A loop that drains does not wait for it.
  [[nodiscard]] Executor require(OutstandingWork::tracked_t /*property*/) const noexcept {
    return changed([](Executor& self) { self.work_ = TrackedWork(*self.context_); });
  }
  [[nodiscard]] Executor require(OutstandingWork::untracked_t /*property*/) const noexcept {
    return changed([](Executor& self) { self.work_ = TrackedWork(); });
  }
  /// Errors: std::invalid_argument of execute(), for a value that is no TaskPriority.
  [[nodiscard]] Executor require(const PriorityProperty& property) const noexcept {
    return changed([&](Executor& self) {
      self.urgency_ = {property.level, {}};
      self.source_.reset();
    });
  }
  [[nodiscard]] Executor require(const SignalProperty& property) const noexcept {
    return changed([&](Executor& self) {
      self.urgency_ = {TaskPriority::user_visible, property.follower};
      self.source_ = property.source;
    });
  }

  [[nodiscard]] net::execution_context& query(
      net::execution::context_t /*property*/) const noexcept {
    return *context_;
  }
  [[nodiscard]] Blocking query(Blocking /*property*/) const noexcept {
    return is_possibly_blocking_ ? Blocking(Blocking::possibly) : Blocking(Blocking::never);
  }
  [[nodiscard]] Relationship query(Relationship /*property*/) const noexcept {
    return is_continuation_ ? Relationship(Relationship::continuation)
                            : Relationship(Relationship::fork);
  }
  [[nodiscard]] OutstandingWork query(OutstandingWork /*property*/) const noexcept {
    return work_.counts() ? OutstandingWork(OutstandingWork::tracked)
                          : OutstandingWork(OutstandingWork::untracked);
  }
  [[nodiscard]] static constexpr Mapping query(Mapping /*property*/) noexcept {
    return Mapping::thread;
  }
  /// How many agents may run handlers at the same time.
  [[nodiscard]] std::size_t query(net::execution::occupancy_t /*property*/) const noexcept {
    return occupancy_;
  }
  /// Tasks come from the library's own pools, whatever allocator a handler has.
  template <class T>
  [[nodiscard]] std::allocator<void> query(AllocatorOf<T> /*property*/) const noexcept {
    return {};
  }
  [[nodiscard]] std::optional<TaskPriority> query(
      const PriorityProperty& /*property*/) const noexcept {
    return urgency_.follower ? std::nullopt : std::optional(urgency_.fixed);
  }
  [[nodiscard]] std::optional<TaskSignal> query(const SignalProperty& /*property*/) const noexcept {
    return source_;
  }

  [[nodiscard]] const Scheduler& scheduler() const noexcept { return scheduler_; }

  friend bool operator==(const Executor& a, const Executor& b) noexcept {
    return a.context_ == b.context_ && a.scheduler_ == b.scheduler_ && a.source_ == b.source_ &&
           a.urgency_.fixed == b.urgency_.fixed &&
           a.is_possibly_blocking_ == b.is_possibly_blocking_ &&
           a.is_continuation_ == b.is_continuation_;
  }

 private:
  template <class Change>
  [[nodiscard]] Executor changed(Change change) const noexcept {
    Executor copy(*this);
    change(copy);
    return copy;
  }
  [[nodiscard]] bool may_run_here() const noexcept {
    return running_urgency != nullptr && urgency_.now() >= running_urgency->now() &&
           Scheduler::current() == scheduler_ && !urgent_waiting();
  }
  template <class Function>
  void call(Function&& function) const {
    HandlerTask<std::decay_t<Function>> task{std::forward<Function>(function), urgency_};
    detail::invoke_and_report(task, ErrorOrigin::task);
  }

  TaskContext* context_;
  Scheduler scheduler_;
  Urgency urgency_;
  std::optional<TaskSignal> source_;
  TrackedWork work_;
  std::size_t occupancy_ = 1;
  bool is_possibly_blocking_ = false;
  bool is_continuation_ = false;
};

}  // namespace HEIST_ASIO_NAMESPACE
