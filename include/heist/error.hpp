// The error types of the runtime, and the hook that hears of errors nobody else can see.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <heist/reason.hpp>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace heist {

/// A signal was aborted without a reason of its own, or a close dropped the task.
class AbortError : public std::runtime_error {
 public:
  explicit AbortError(const char* what = "the operation was aborted") : runtime_error(what) {}
};

/// A time limit ran out.
class TimeoutError : public std::runtime_error {
 public:
  explicit TimeoutError(const char* what = "the operation timed out") : runtime_error(what) {}
};

/// The call is not allowed here: a re-entrant `set_priority`, or a wait that could never end.
class NotAllowedError : public std::logic_error {
 public:
  explicit NotAllowedError(const char* what) : logic_error(what) {}
};

/// The object is not in a state for the call: posting to a closed scheduler, a promise nobody can
/// settle.
class InvalidStateError : public std::logic_error {
 public:
  explicit InvalidStateError(const char* what) : logic_error(what) {}
};

/// A bounded scheduler is full.
class QuotaExceededError : public std::runtime_error {
 public:
  explicit QuotaExceededError(const char* what) : runtime_error(what) {}
};

/// None of several promises fulfilled: the reasons, in the order of the promises.
///
/// Spec: [ecma262#sec-aggregate-error-objects].
class AggregateError : public std::runtime_error {
 public:
  explicit AggregateError(std::vector<Reason> reasons)
      : runtime_error("all promises were rejected"),
        reasons_(std::make_shared<const std::vector<Reason>>(std::move(reasons))) {}
  [[nodiscard]] const std::vector<Reason>& reasons() const noexcept { return *reasons_; }

 private:
  std::shared_ptr<const std::vector<Reason>>
      reasons_;  ///< shared: copying an exception must not throw
};

/// Thrown in place of a reason that is a plain value rather than an exception.
class Aborted : public std::exception {
 public:
  explicit Aborted(Reason reason) noexcept : reason_(std::move(reason)) {}
  [[nodiscard]] const Reason& reason() const noexcept { return reason_; }
  [[nodiscard]] const char* what() const noexcept override { return "aborted with a plain value"; }

 private:
  Reason reason_;
};

/// Where an error came from that no promise carries.
enum class ErrorOrigin : std::uint8_t {
  task,
  listener,
  microtask,
  unobserved_rejection,
  close,  ///< a drain that does not get on: what waits for what (TimeoutError), told once
  /// Agents of a cluster have waited in tasks for long: who for what (TimeoutError), told once.
  wait,
};

/// Hears of errors that reach nobody: from fire-and-forget tasks, listeners, microtasks, and
/// rejections by exception that no one observed. Called on the thread where it happened; must not
/// throw.
using ErrorHook = void (*)(ErrorOrigin origin, const Reason& reason) noexcept;

/// Sets the process-wide hook and returns the former one; null restores the default, which writes
/// one line to standard error.
///
/// Thread: any.   Blocks: never.   Cost: one exchange.
ErrorHook set_error_hook(ErrorHook hook) noexcept;

/// How many errors have been reported since the process began.
///
/// Thread: any.
[[nodiscard]] std::uint64_t reported_error_count() noexcept;

/// Counts an error and hands it to the hook.
void report_error(ErrorOrigin origin, const Reason& reason) noexcept;
/// Calls it, and reports what it throws; by then no handler holds the exception, only its reason.
template <class Callback>
void invoke_and_report(Callback& callback, ErrorOrigin origin) noexcept {
  Reason thrown;
  try {
    std::invoke(callback);
    return;
  } catch (...) {
    thrown = Reason::of_current_exception();
  }
  report_error(origin, Reason(std::move(thrown)));  // moved: `thrown` stays in a register
}

}  // namespace heist
