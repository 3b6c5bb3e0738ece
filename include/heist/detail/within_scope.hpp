// WithinScope: says which tasks of TaskScopes the calling thread is within.
#pragma once

#include <heist/detail/export.hpp>
#include <heist/detail/forward.hpp>
#include <heist/version.hpp>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// A scope in which the calling thread calls a callback of a TaskScope, or destroys one, or what
/// else the end of that TaskScope waits for. Whoever waits for that end there waits for ever.
///
/// A coroutine that goes on is within no such object. It is known by its scheduling state
/// (SchedulingState::is_of_scope).
class WithinScope {
 public:
  /// Says that a task starts.
  struct Starts {};

  /// `of` is the signal of the TaskScope's tasks, of which each TaskScope has its own; null for
  /// none.
  explicit WithinScope(const SignalCore* of) noexcept : WithinScope(of, innermost_here()) {}
  /// For a task that starts. It also notes in the current scheduling state that it is that of a
  /// TaskScope's task, so that the task's continuations are known as well.
  WithinScope(const SignalCore* of, Starts /*task*/) noexcept
      : WithinScope(of, innermost_of_task()) {}
  WithinScope(const WithinScope&) = delete;
  WithinScope& operator=(const WithinScope&) = delete;
  ~WithinScope() { innermost_ = outer_; }

  /// Whether the calling thread is within a task, or a coroutine, of the TaskScope whose tasks have
  /// this signal, perhaps with loops nested in it.
  [[nodiscard]] static bool is_here(const SignalCore& of) noexcept;

 private:
  WithinScope(const SignalCore* of, const WithinScope*& innermost) noexcept
      : of_(of), innermost_(innermost), outer_(std::exchange(innermost, this)) {}

  /// Where the calling thread keeps the innermost of these objects.
  [[nodiscard]] HEIST_EXPORT static const WithinScope*& innermost_here() noexcept;
  /// Does the same, and marks the current scheduling state.
  [[nodiscard]] HEIST_EXPORT static const WithinScope*& innermost_of_task() noexcept;

  const SignalCore* of_;
  const WithinScope*& innermost_;
  const WithinScope* outer_;
};

}  // namespace HEIST_NAMESPACE::detail
