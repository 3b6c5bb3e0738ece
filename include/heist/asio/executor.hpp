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

  template <class Property, class... Known>
  static constexpr bool is_one_of = (std::is_same_v<Property, Known> || ...);
  template <class Property>
  static constexpr bool is_settable =
      is_one_of<Property, Blocking::possibly_t, Blocking::never_t, Relationship::continuation_t,
                Relationship::fork_t, OutstandingWork::tracked_t, OutstandingWork::untracked_t,
                PriorityProperty, SignalProperty>;
  void set(Blocking::possibly_t /*property*/) noexcept { is_possibly_blocking_ = true; }
  void set(Blocking::never_t /*property*/) noexcept { is_possibly_blocking_ = false; }
  void set(Relationship::continuation_t /*property*/) noexcept { is_continuation_ = true; }
  void set(Relationship::fork_t /*property*/) noexcept { is_continuation_ = false; }
  void set(OutstandingWork::tracked_t /*property*/) noexcept { work_ = TrackedWork(*context_); }
  void set(OutstandingWork::untracked_t /*property*/) noexcept { work_ = TrackedWork(); }
  void set(const PriorityProperty& property) noexcept {
    urgency_ = {property.level, {}};
    source_.reset();
  }
  void set(const SignalProperty& property) noexcept {
    urgency_ = {TaskPriority::user_visible, property.follower};
    source_ = property.source;
  }

 public:
  /// Handlers are tasks of this scheduler, or stealable ones of this cluster.
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
    using Task = std::decay_t<Function>;
    if (urgency_.follower) {
      scheduler_.post(HandlerTask<Task>{std::forward<Function>(function), urgency_},
                      {.signal = urgency_.follower});
    } else {
      scheduler_.post(FixedHandlerTask<Task>{std::forward<Function>(function), urgency_.fixed},
                      {.priority = urgency_.fixed});
    }
  }

  /// Gives an executor with the property: one of Asio's, priority() or signal().
  /// - `blocking.possibly`, `blocking.never`: whether execute() may call.
  /// - `outstanding_work.tracked` counts in TaskContext::outstanding_work(). A loop that drains
  ///   does not wait for it.
  /// - `relationship.continuation` is a hint, which changes nothing: a handler has its place behind
  ///   those of its priority.
  ///
  /// Thread: any.   Errors: none here; a value that is no TaskPriority makes execute() throw
  ///         std::invalid_argument.
  template <class Property>
    requires(is_settable<Property>)
  [[nodiscard]] Executor require(const Property& property) const& noexcept {
    return Executor(*this).require(property);
  }
  template <class Property>
    requires(is_settable<Property>)
  [[nodiscard]] Executor require(const Property& property) && noexcept {
    set(property);
    return std::move(*this);
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

  /// The scheduler whose tasks the handlers are.
  [[nodiscard]] const Scheduler& scheduler() const noexcept { return scheduler_; }

  friend bool operator==(const Executor& a, const Executor& b) noexcept {
    return a.context_ == b.context_ && a.scheduler_ == b.scheduler_ && a.source_ == b.source_ &&
           a.urgency_.fixed == b.urgency_.fixed &&
           a.is_possibly_blocking_ == b.is_possibly_blocking_ &&
           a.is_continuation_ == b.is_continuation_;
  }

 private:
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
