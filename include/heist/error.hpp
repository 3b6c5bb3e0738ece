// Reason: why something was rejected or aborted. Also the error types of the runtime, and the hook
// that hears of errors nobody else can see.
#pragma once

#include <any>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <heist/detail/export.hpp>
#include <heist/detail/forward.hpp>
#include <heist/detail/ref.hpp>
#include <heist/version.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace HEIST_NAMESPACE {

/// Shared, immutable cause of a rejection or an abort; empty by default.
///
/// Copies share one object and compare equal; reasons that were made separately never do, as with
/// JavaScript's objects. The exception is kept in a counted box, so it is destroyed after its last
/// user.
///
/// Thread: one Reason object is used by one thread at a time; copies may be on any thread.
/// Cost:   making one allocates; copying is one read-modify-write.
class HEIST_EXPORT Reason {
 public:
  /// An empty one: no reason.
  Reason() noexcept = default;

  /// An exception in flight or stored.
  explicit Reason(std::exception_ptr exception) : box_(make(std::move(exception), {})) {}

  /// An exception object (any class derived from std::exception), or a plain value of any copyable
  /// type; text is kept as std::string.
  template <class Value>
    requires(!std::same_as<std::remove_cvref_t<Value>, Reason> &&
             !std::same_as<std::remove_cvref_t<Value>, std::exception_ptr>)
  explicit Reason(Value&& value) : box_(make_from(std::forward<Value>(value))) {}

  /// The reason that an exception which ended a callback stands for: the exception itself, or the
  /// plain value that an `Aborted` carries. It cannot fail: without memory it gives
  /// out_of_memory().
  [[nodiscard]] static Reason of(std::exception_ptr exception) noexcept;
  [[nodiscard]] static Reason of_current_exception() noexcept {
    return of(std::current_exception());
  }
  /// The reason of an abort that was given none: an AbortError, which is made only when somebody
  /// looks at it.   Cost: one node.
  [[nodiscard]] static Reason of_abort();
  /// A std::bad_alloc that was made ahead, for when there is no memory to make a reason.
  [[nodiscard]] static const Reason& out_of_memory() noexcept;

  /// Whether there is a reason.
  explicit operator bool() const noexcept { return static_cast<bool>(box_); }

  /// The exception, or null when the reason is a plain value. If an abort was given no reason, the
  /// AbortError is made by this call; without memory for it the result is a std::bad_alloc.
  [[nodiscard]] std::exception_ptr exception() const noexcept;

  /// Whether it is an exception other than AbortError and Aborted, which only say that something
  /// was aborted.
  [[nodiscard]] bool is_error() const noexcept;

  /// The plain value when it is of this type, else null.
  template <class Value>
  [[nodiscard]] const Value* value() const noexcept {
    return box_ ? std::any_cast<Value>(&value_of(*box_)) : nullptr;
  }

  /// Throws the exception itself, or `Aborted` that carries this reason when it is a plain value.
  [[noreturn]] void rethrow() const;

  /// Text for logs: what() of the exception, or a description of the value.
  [[nodiscard]] std::string what() const;

  /// Compares identity, not contents.
  friend bool operator==(const Reason&, const Reason&) noexcept = default;

 private:
  friend struct detail::Access;
  using Box = detail::ReasonBox;

  explicit Reason(detail::Ref<Box> box) noexcept : box_(std::move(box)) {}
  [[nodiscard]] const detail::Ref<Box>& box() const noexcept { return box_; }
  static detail::Ref<Box> make(std::exception_ptr exception, std::any value);
  static const std::any& value_of(const Box& box) noexcept;

  template <class Value>
  static detail::Ref<Box> make_from(Value&& value) {
    using Plain = std::remove_cvref_t<Value>;
    if constexpr (std::derived_from<Plain, std::exception>) {
      return make(std::make_exception_ptr(std::forward<Value>(value)), {});
    } else if constexpr (std::is_convertible_v<Value, std::string_view> &&
                         !std::same_as<Plain, std::nullptr_t>) {
      if constexpr (std::is_pointer_v<Plain>) {
        if (value == nullptr) return make(nullptr, std::string());
      }
      return make(nullptr, std::string(std::string_view(value)));
    } else {
      return make(nullptr, std::any(std::forward<Value>(value)));
    }
  }

  detail::Ref<Box> box_;
};

/// A signal was aborted without a reason of its own, or a close dropped the task.
class HEIST_EXPORT AbortError : public std::runtime_error {
 public:
  /// `what` is kept as text.   Errors: std::bad_alloc.
  explicit AbortError(const char* what = "the operation was aborted") : runtime_error(what) {}
};

/// A time limit ran out.
class HEIST_EXPORT TimeoutError : public std::runtime_error {
 public:
  /// `what` is kept as text.   Errors: std::bad_alloc.
  explicit TimeoutError(const char* what = "the operation timed out") : runtime_error(what) {}
};

/// The call is not allowed here: a re-entrant `set_priority`, or a wait that could never end.
class HEIST_EXPORT NotAllowedError : public std::logic_error {
 public:
  /// `what` is kept as text.   Errors: std::bad_alloc.
  explicit NotAllowedError(const char* what) : logic_error(what) {}
};

/// The object is not in a state for the call: posting to a closed scheduler, a promise nobody can
/// settle.
class HEIST_EXPORT InvalidStateError : public std::logic_error {
 public:
  /// `what` is kept as text.   Errors: std::bad_alloc.
  explicit InvalidStateError(const char* what) : logic_error(what) {}
};

/// A bounded scheduler is full.
class HEIST_EXPORT QuotaExceededError : public std::runtime_error {
 public:
  /// `what` is kept as text.   Errors: std::bad_alloc.
  explicit QuotaExceededError(const char* what) : runtime_error(what) {}
};

/// None of several promises was fulfilled. It has their reasons, in the order of the promises.
///
/// Spec: [ecma262#sec-aggregate-error-objects].
class HEIST_EXPORT AggregateError : public std::runtime_error {
 public:
  /// Errors: std::bad_alloc.
  explicit AggregateError(std::vector<Reason> reasons);
  /// In the order of the promises.
  [[nodiscard]] const std::vector<Reason>& reasons() const noexcept;

 private:
  detail::Ref<detail::ReasonList> reasons_;  ///< shared: copying an exception must not throw
};

/// Thrown in place of a reason that is a plain value rather than an exception.
class HEIST_EXPORT Aborted : public std::exception {
 public:
  /// Stands for this reason.
  explicit Aborted(Reason reason) noexcept : reason_(std::move(reason)) {}
  /// The reason, which has the value.
  [[nodiscard]] const Reason& reason() const noexcept { return reason_; }
  /// A text that says no more than that.
  [[nodiscard]] const char* what() const noexcept override { return "aborted with a plain value"; }

 private:
  Reason reason_;
};

/// Where an error came from that no promise carries.
///
/// It has 32 bits because the library passes it to a function of the program
/// (detail::TaskOutcome says why).
enum class ErrorOrigin : std::uint32_t {
  task,
  listener,
  microtask,
  unobserved_rejection,
  /// A close that drains does not get on. A TimeoutError says what waits for what. Told once.
  close,
  /// Agents of a cluster have waited in tasks for long, or the destructor of a TaskScope has. A
  /// TimeoutError says who waits for what. Told once.
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
HEIST_EXPORT ErrorHook set_error_hook(ErrorHook hook) noexcept;

/// How many errors have been reported since the process began.
///
/// Thread: any.
[[nodiscard]] HEIST_EXPORT std::uint64_t reported_error_count() noexcept;

}  // namespace HEIST_NAMESPACE
