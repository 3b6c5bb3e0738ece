// TaskSignal and TaskController: abort, and a priority that may change.
#pragma once

#include <concepts>
#include <heist/abort_signal.hpp>
#include <heist/detail/export.hpp>
#include <heist/priority.hpp>
#include <heist/version.hpp>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE {

class TaskSignal;
struct PriorityChangeEvent;

/// An abort signal with a priority that its controller may change.
///
/// Spec:   [sched#sec-task-signal].   Thread: as AbortSignal.
class HEIST_EXPORT TaskSignal : public AbortSignal {
 public:
  /// As AbortSignal::any, with a priority: a fixed one, or that of another signal, whose later
  /// changes it follows: picks use them at once, its event comes after that signal's own (PRI-6).
  /// That signal does not abort it unless it is in the list, too. A request's own priority, and a
  /// deadline: `TaskSignal::any({request, deadline}, request)`. Without a priority it is
  /// user-visible for good, and a TaskSignal in a list in braces does not compile.
  ///
  /// Spec:   [sched#dom-tasksignal-any].   Thread, Blocks, Cost: as AbortSignal::any.
  /// Errors: the same; std::invalid_argument for a value that is no TaskPriority.
  [[nodiscard]] static TaskSignal any(std::span<const AbortSignal> signals,
                                      TaskPriority priority = TaskPriority::user_visible);
  [[nodiscard]] static TaskSignal any(std::span<const AbortSignal> signals,
                                      const TaskSignal& priority_source);
  [[nodiscard]] static TaskSignal any(std::initializer_list<detail::ListedSignal> signals);
  [[nodiscard]] static TaskSignal any(std::initializer_list<AbortSignal> signals,
                                      TaskPriority priority) {
    return any(std::span<const AbortSignal>(signals.begin(), signals.size()), priority);
  }
  [[nodiscard]] static TaskSignal any(std::initializer_list<AbortSignal> signals,
                                      const TaskSignal& priority_source) {
    return any(std::span<const AbortSignal>(signals.begin(), signals.size()), priority_source);
  }

  /// The current priority. While calls of set_priority are under way it may already be newer than
  /// the event that is being delivered (PRI-6). A moved-from handle gives user-visible, and fails
  /// an assertion in debug builds.
  ///
  /// Cost: one load.
  [[nodiscard]] TaskPriority priority() const noexcept;

  /// Calls `listener(event)` or `listener()` at each change, in the thread that changes it.
  ///
  /// Errors: as on_abort.   Cost: one allocation; lock-free.
  template <class Callback>
    requires std::invocable<std::decay_t<Callback>&> ||
             std::invocable<std::decay_t<Callback>&, const PriorityChangeEvent&>
  Subscription on_priority_change(Callback&& listener, const ListenerOptions& options = {}) const;

 private:
  friend struct detail::Access;
  friend class TaskController;
  explicit TaskSignal(detail::Ref<detail::SignalCore> core) noexcept
      : AbortSignal(std::move(core)) {}
  Subscription add_priority_listener(detail::Listener& listener,
                                     const ListenerOptions& options) const;
};

/// What on_priority_change tells its listeners.
///
/// Spec: [sched#sec-task-priority-change-event].
struct PriorityChangeEvent {
  TaskSignal signal;      ///< whose priority has changed
  TaskPriority previous;  ///< that of before the change
  TaskPriority current;   ///< that of the signal now
};

/// Aborts its signal and changes its priority.
///
/// Spec: [sched#sec-task-controller].   Thread: any.
class HEIST_EXPORT TaskController : public AbortController {
 public:
  /// Errors: std::invalid_argument for a value that is no TaskPriority; std::bad_alloc.
  explicit TaskController(TaskPriority priority = TaskPriority::user_visible);

  /// The signal that it aborts, and whose priority it changes.
  [[nodiscard]] TaskSignal signal() const noexcept {
    return TaskSignal(detail::Ref<detail::SignalCore>::share(&core()));
  }

  /// Changes the priority of the signal: every pick that begins after the return uses it, for
  /// queued tasks too (PRI-3). The same value does nothing.
  ///
  /// Thread: any; concurrent calls are ordered, the last wins.   Blocks: never. Listeners are
  /// called by this call; when another one is calling them it may be that one which tells of this
  /// value, or of a later one in its stead: values that come during an event are one change
  /// (PRI-6). When all calls have returned, listeners have been told of the last value.
  ///
  /// Errors: NotAllowedError when called on this thread while a change of this signal is being
  /// delivered to a listener; std::invalid_argument; std::bad_alloc (stealable tasks only), nothing
  /// changed.
  /// Cost: O(loops + listeners of the signal), not of its tasks. The listeners are called once, and
  /// once more only when other calls came meanwhile and have left. The first change takes one node
  /// for each loop that has tasks of the signal, if there is memory.
  void set_priority(TaskPriority priority);
};

template <class Callback>
  requires std::invocable<std::decay_t<Callback>&> ||
           std::invocable<std::decay_t<Callback>&, const PriorityChangeEvent&>
Subscription TaskSignal::on_priority_change(Callback&& listener,
                                            const ListenerOptions& options) const {
  static_assert(
      !detail::listener_returns_promise<std::decay_t<Callback>, const PriorityChangeEvent&>,
      "a coroutine outlives the listener: post it as a task instead");
  check_valid("TaskSignal::on_priority_change");
  check_signal(options);
  detail::check_callback(listener, "TaskSignal::on_priority_change");
  auto call = [callback = std::decay_t<Callback>(std::forward<Callback>(listener))](
                  detail::SignalEvent& event) mutable {
    if constexpr (std::invocable<std::decay_t<Callback>&, const PriorityChangeEvent&>) {
      callback(
          PriorityChangeEvent{TaskSignal(detail::Ref<detail::SignalCore>::share(&event.signal)),
                              event.previous, event.current});
    } else {
      callback();
    }
  };
  return add_priority_listener(
      *detail::make_node<detail::CallbackListener<decltype(call)>>(std::move(call)), options);
}

}  // namespace HEIST_NAMESPACE
