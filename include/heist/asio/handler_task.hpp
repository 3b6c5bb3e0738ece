// HandlerTask: a handler of Asio as the callback of a task.
#pragma once

#include <heist/asio/library.hpp>
#include <heist/priority.hpp>
#include <heist/task_signal.hpp>
#include <optional>
#include <utility>

namespace HEIST_ASIO_NAMESPACE {

/// With which priority handlers run: a fixed one, or that of a signal.
struct Urgency {
  TaskPriority fixed = TaskPriority::user_visible;
  std::optional<TaskSignal> follower;

  [[nodiscard]] TaskPriority now() const noexcept {
    return follower ? follower->priority() : fixed;
  }
};

/// The urgency of the handler that runs on this thread, or null.
inline thread_local const Urgency* running_urgency = nullptr;

/// Says for a scope that a handler of this urgency runs here.
class RunningHandler {
 public:
  explicit RunningHandler(const Urgency& urgency) noexcept
      : outer_(std::exchange(running_urgency, &urgency)) {}
  RunningHandler(const RunningHandler&) = delete;
  RunningHandler& operator=(const RunningHandler&) = delete;
  ~RunningHandler() { running_urgency = outer_; }

 private:
  const Urgency* outer_;
};

/// Calls a handler, which may be move-only, once.
template <class Function>
struct HandlerTask {
  void operator()() {
    const RunningHandler running(urgency);
    std::move(function)();
  }

  Function function;
  Urgency urgency;
};

/// A HandlerTask whose priority is fixed, which takes less memory.
template <class Function>
struct FixedHandlerTask {
  void operator()() {
    const Urgency urgency{priority, {}};
    const RunningHandler running(urgency);
    std::move(function)();
  }

  Function function;
  TaskPriority priority;
};

}  // namespace HEIST_ASIO_NAMESPACE
