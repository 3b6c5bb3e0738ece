// Properties of executors that only heist has: a fixed priority, or that of a TaskSignal.
#pragma once

#include <heist/asio/library.hpp>
#include <heist/priority.hpp>
#include <heist/task_signal.hpp>
#include <optional>
#include <span>

namespace HEIST_ASIO_NAMESPACE {

/// What both properties have in common: they are for executors, to be required or preferred.
struct ExecutorProperty {
  template <class T>
  static constexpr bool is_applicable_property_v = net::execution::is_executor<T>::value;
  static constexpr bool is_requirable = true;
  static constexpr bool is_preferable = true;
};

/// The fixed priority of an executor's handlers. A query gives nothing if they follow a signal.
struct PriorityProperty : ExecutorProperty {
  /// What a query gives.
  using polymorphic_query_result_type = std::optional<TaskPriority>;
  /// The priority that is required.
  TaskPriority level = TaskPriority::user_visible;
};

/// The signal whose priority an executor's handlers follow; an abort of it changes nothing.
struct SignalProperty : ExecutorProperty {
  /// What a query gives.
  using polymorphic_query_result_type = std::optional<TaskSignal>;
  std::optional<TaskSignal> source;    ///< the signal that is required
  std::optional<TaskSignal> follower;  ///< has the priority of `source`, and is never aborted
};

/// For `require(executor, priority(p))`: handlers have this priority.
///
/// Thread: any (pure).   Spec: contract ASIO-1.
[[nodiscard]] inline PriorityProperty priority(TaskPriority level) noexcept { return {{}, level}; }

/// For `require(executor, signal(s))`: handlers have the priority of that signal, whose changes
/// they follow while they wait. An abort of the signal drops no handler, because Asio relies on
/// each being called: a strand would stay locked for ever. To cancel an operation, use
/// bind_abort_signal().
///
/// Thread: any.   Errors: std::bad_alloc; std::invalid_argument for a moved-from signal.
/// Cost:   that of TaskSignal::any.   Spec: contract ASIO-2.
[[nodiscard]] inline SignalProperty signal(const TaskSignal& source) {
  return {{}, source, TaskSignal::any(std::span<const AbortSignal>(), source)};
}

}  // namespace HEIST_ASIO_NAMESPACE
