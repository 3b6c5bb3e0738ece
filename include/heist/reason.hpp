// Reason: why something was rejected or aborted. An exception, or any plain value.
#pragma once

#include <any>
#include <concepts>
#include <cstddef>
#include <exception>
#include <heist/detail/ref.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace heist {

/// Shared, immutable cause of a rejection or an abort; empty by default.
///
/// Copies share one object and compare equal; separately made reasons never do, as JavaScript
/// objects. The exception is kept in a counted box, so it is destroyed after its last user.
///
/// Thread: one Reason object is used by one thread at a time; copies may be on any thread.
/// Cost:   making one allocates; copying is one read-modify-write.
class Reason {
 public:
  /// No reason.
  Reason() noexcept = default;

  /// An exception in flight or stored.
  explicit Reason(std::exception_ptr exception) : box_(make(std::move(exception), {})) {}

  /// An exception object (any class derived from std::exception), or a plain value of any copyable
  /// type; text is kept as std::string.
  template <class Value>
    requires(!std::same_as<std::remove_cvref_t<Value>, Reason> &&
             !std::same_as<std::remove_cvref_t<Value>, std::exception_ptr>)
  explicit Reason(Value&& value) : box_(make_from(std::forward<Value>(value))) {}

  /// What an exception that ended a callback stands for: itself, or the plain value `Aborted`
  /// carries. Cannot fail: without memory it gives out_of_memory().
  [[nodiscard]] static Reason of(std::exception_ptr exception) noexcept;
  [[nodiscard]] static Reason of_current_exception() noexcept {
    return of(std::current_exception());
  }
  /// An AbortError, made when it is first looked at: what an abort without a reason gives.   Cost:
  /// one node.
  [[nodiscard]] static Reason of_abort();
  /// The std::bad_alloc made ahead.
  [[nodiscard]] static const Reason& out_of_memory() noexcept;

  explicit operator bool() const noexcept { return static_cast<bool>(box_); }

  /// The exception, or null when the reason is a plain value. Of an abort without a reason: made
  /// now; std::bad_alloc when there is no memory for it.
  [[nodiscard]] std::exception_ptr exception() const noexcept;

  /// Whether it is an exception, and not one that says of something that it was aborted
  /// (AbortError, Aborted).
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

  /// Identity, not equality of contents.
  friend bool operator==(const Reason&, const Reason&) noexcept = default;

  class Box;

  /// The reason a box stands for (shared), and the box itself; for the library.
  explicit Reason(Ref<Box> box) noexcept : box_(std::move(box)) {}
  [[nodiscard]] const Ref<Box>& box() const noexcept { return box_; }

 private:
  static Ref<Box> make(std::exception_ptr exception, std::any value);
  static const std::any& value_of(const Box& box) noexcept;

  template <class Value>
  static Ref<Box> make_from(Value&& value) {
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

  Ref<Box> box_;
};

void retain(Reason::Box& box) noexcept;
void release(Reason::Box& box) noexcept;

}  // namespace heist
