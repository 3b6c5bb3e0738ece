// as_sender: a Promise as a sender. A Promise itself is none, although libraries of senders would
// take it for one.
#pragma once

#include <exception>
#include <heist/detail/access.hpp>
#include <heist/detail/copyable.hpp>
#include <heist/detail/promise_state.hpp>
#include <heist/error.hpp>
#include <heist/execution/library.hpp>
#include <heist/promise.hpp>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE::execution {

/// The operation state of a PromiseSender: a reaction that belongs to no loop.
template <class T, class Receiver>
class PromiseOperation final : private detail::Reaction {
 public:
  using operation_state_concept = OperationStateTag;

  PromiseOperation(Promise<T> promise, Receiver receiver) noexcept
      : Reaction(table), promise_(std::move(promise)), receiver_(std::move(receiver)) {}

  void start() & noexcept { state().attach(*this); }

 private:
  static PromiseOperation& of(detail::LoopNode& node) noexcept {
    return static_cast<PromiseOperation&>(static_cast<detail::Reaction&>(node));
  }
  static void drop(detail::LoopNode& node) noexcept { of(node).complete(); }
  /// It is never run: without a home it is dropped, as soon as the promise has settled.
  static constexpr detail::LoopNodeOps table{detail::LoopNodeKind::microtask, nullptr, &drop};

  [[nodiscard]] detail::PromiseState<T>& state() const noexcept {
    return detail::Access::state(promise_);
  }
  void complete() noexcept {
    state().mark_handled();
    state().status() == PromiseStatus::fulfilled ? complete_with_value() : complete_with_reason();
  }
  void complete_with_value() noexcept {
    if constexpr (std::is_void_v<T>) {
      ex::set_value(std::move(receiver_));
    } else if constexpr (std::is_reference_v<T>) {
      ex::set_value(std::move(receiver_), *state().value());
    } else {
      std::optional<T> value;
      try {
        value.emplace(detail::value_to_keep(state()));
      } catch (...) {
        return ex::set_error(std::move(receiver_), std::current_exception());
      }
      ex::set_value(std::move(receiver_), *std::move(value));
    }
  }
  void complete_with_reason() noexcept {
    const Reason& reason = state().reason();
    const bool is_value = !reason.is_error() && !state().is_abort();
    if (reason.is_error()) {
      ex::set_error(std::move(receiver_), reason.exception());
    } else if (std::exception_ptr thrown = is_value ? thrown_value(reason) : nullptr) {
      ex::set_error(std::move(receiver_), std::move(thrown));
    } else {
      ex::set_stopped(std::move(receiver_));
    }
  }
  /// What carries a plain value; null for what only says that something was aborted.
  static std::exception_ptr thrown_value(const Reason& reason) noexcept {
    if (reason.exception()) return nullptr;
    return std::make_exception_ptr(Aborted(reason));
  }

  Promise<T> promise_;
  Receiver receiver_;
};

/// Completes as its promise settles, on the thread that settles it, or within `start()` if it was
/// settled before. A stop token does not end the wait.
template <class T>
class PromiseSender {
 public:
  using sender_concept = SenderTag;

  /// As as_sender().
  explicit PromiseSender(Promise<T> promise) noexcept : promise_(std::move(promise)) {}

  template <class Self, class Env>
  static consteval auto get_completion_signatures() noexcept {
    if constexpr (std::is_void_v<T>) {
      return ex::completion_signatures<ex::set_value_t(), ex::set_error_t(std::exception_ptr),
                                       ex::set_stopped_t()>{};
    } else {
      return ex::completion_signatures<ex::set_value_t(T), ex::set_error_t(std::exception_ptr),
                                       ex::set_stopped_t()>{};
    }
  }
  template <class Receiver>
  [[nodiscard]] auto connect(Receiver receiver) const& {
    return PromiseOperation<T, Receiver>(promise_, std::move(receiver));
  }
  template <class Receiver>
  [[nodiscard]] auto connect(Receiver receiver) && {
    return PromiseOperation<T, Receiver>(std::move(promise_), std::move(receiver));
  }

 private:
  Promise<T> promise_;
};

/// A sender of what the promise settles with: its value, copied, or moved if it cannot be copied;
/// an error for a rejection; `set_stopped` if that only says that something was aborted
/// (AbortError), or closed. A TimeoutError is an error, and so is a plain value, in an Aborted.
///
/// Thread: any, no loop needed.   Blocks: never.   Cost: no allocation.
/// Errors: std::invalid_argument for a handle that was moved from.   Spec: contract SND-6.
template <class T>
[[nodiscard]] PromiseSender<T> as_sender(Promise<T> promise) {
  detail::Access::check_valid(promise, "as_sender");
  return PromiseSender<T>(std::move(promise));
}

}  // namespace HEIST_NAMESPACE::execution

/// Libraries take what can be awaited for a sender. As one, a Promise would fail where no loop
/// runs, and an abort would be an error.
template <class T>
inline constexpr bool HEIST_EXECUTION_NAMESPACE::enable_sender<heist::Promise<T>> = false;
