// BulkSender: what bulk_chunked and bulk_unchunked do on the schedulers of heist.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <heist/detail/helped_task.hpp>
#include <heist/detail/parallel_work.hpp>
#include <heist/execution/library.hpp>
#include <heist/execution/queries.hpp>
#include <heist/execution/quiet_stop_token.hpp>
#include <new>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE::execution {

/// Whether the list of signatures has this one.
template <class Signature, class... Signatures>
consteval bool is_among(ex::completion_signatures<Signatures...> /*all*/) noexcept {
  return (std::same_as<Signature, Signatures> || ...);
}
/// Returns the list of signatures, to which this one is added unless it is there already.
template <class Signature, class... Signatures>
consteval auto with_signature(ex::completion_signatures<Signatures...> all) noexcept {
  if constexpr (is_among<Signature>(all)) {
    return all;
  } else {
    return ex::completion_signatures<Signatures..., Signature>{};
  }
}

/// The completion signatures of bulk after `Child`: those of the child, and an error. It may also
/// be stopped, if its receiver can be told so.
template <class Child, class Env>
consteval auto bulk_signatures() noexcept {
  constexpr auto with_errors = with_signature<ex::set_error_t(std::exception_ptr)>(
      ex::completion_signatures_of_t<Child, Env>{});
  if constexpr (may_be_stopped<Env> || has_signal<Env>) {
    return with_signature<ex::set_stopped_t()>(with_errors);
  } else {
    return with_errors;
  }
}

/// Indexes that are done by calls of a function for [begin, end).
template <class Function>
class BulkLoop final : public detail::ParallelLoop {
 public:
  explicit BulkLoop(const Function& function) noexcept : function_(function) {}

 private:
  void run_indexes(std::size_t begin, std::size_t end, void* /*result*/) override {
    function_(begin, end);
  }
  const Function& function_;
};

/// The operation state of a BulkSender. When the child completes with values, its thread is the
/// caller of a parallel loop, which refers to the values where they are.
template <class Child, class Shape, class Function, bool in_chunks, class Receiver>
class BulkOperation {
 public:
  using operation_state_concept = OperationStateTag;
  using Env = std::remove_cvref_t<decltype(ex::get_env(std::declval<const Receiver&>()))>;

  BulkOperation(Child&& child, Shape shape, Function function, Receiver receiver)
      : shape_(shape),
        function_(std::move(function)),
        receiver_(std::move(receiver)),
        child_(ex::connect(std::forward<Child>(child), ChildReceiver{this})) {}
  BulkOperation(const BulkOperation&) = delete;
  BulkOperation& operator=(const BulkOperation&) = delete;

  void start() & noexcept { ex::start(child_); }

 private:
  struct ChildReceiver {
    using receiver_concept = ReceiverTag;
    BulkOperation* operation;

    template <class... Values>
    void set_value(Values&&... values) noexcept {
      operation->run(std::forward<Values>(values)...);
    }
    template <class Error>
    void set_error(Error&& error) noexcept {
      ex::set_error(std::move(operation->receiver_), std::forward<Error>(error));
    }
    void set_stopped() noexcept { ex::set_stopped(std::move(operation->receiver_)); }
    [[nodiscard]] decltype(auto) get_env() const noexcept {
      return ex::get_env(operation->receiver_);
    }
  };
  static constexpr bool may_stop = is_among<ex::set_stopped_t()>(bulk_signatures<Child, Env>());

  template <class... Values>
  void run(Values&&... values) noexcept {
    const auto token = exq::get_stop_token(ex::get_env(receiver_));
    try {
      run_all(token, values...);
    } catch (...) {
      return fail(token, std::current_exception());
    }
    if constexpr (may_be_told_to_stop<Env>) {
      if (token.stop_requested()) return ex::set_stopped(std::move(receiver_));
    }
    ex::set_value(std::move(receiver_), std::forward<Values>(values)...);
  }
  template <class Token, class... Values>
  void run_all(const Token& token, Values&... values) {
    const auto run_step = [&](std::size_t begin, std::size_t end) {
      if constexpr (may_be_told_to_stop<Env>) {
        if (token.stop_requested()) return;
      }
      call(static_cast<Shape>(begin), static_cast<Shape>(end), values...);
    };
    BulkLoop loop(run_step);
    if (shape_ > Shape{}) loop.run_all(static_cast<std::size_t>(shape_));
  }
  template <class... Values>
  void call(Shape begin, Shape end, Values&... values) {
    if constexpr (in_chunks) {
      std::invoke(function_, begin, end, values...);
    } else {
      for (; begin != end; ++begin) std::invoke(function_, Shape(begin), values...);
    }
  }

  template <class Token>
  void fail(const Token& token, std::exception_ptr error) noexcept {
    if constexpr (may_stop) {
      if (token.stop_requested() || is_aborted()) return ex::set_stopped(std::move(receiver_));
    }
    ex::set_error(std::move(receiver_), std::move(error));
  }
  /// Whether the task is, within which this is called.
  static bool is_aborted() noexcept {
    try {
      return detail::HelpedTask().aborted();
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  const Shape shape_;
  Function function_;
  Receiver receiver_;
  ex::connect_result_t<Child, ChildReceiver> child_;
};

/// Calls the function for each index, once the child has completed, and completes as the child.
///
/// Spec: contract SND-9.   Blocks: the agent that does it, until all is done, as parallel_for().
template <class Child, class Shape, class Function, bool in_chunks>
class BulkSender {
 public:
  using sender_concept = SenderTag;

  BulkSender(Child child, Shape shape, Function function)
      : child_(std::move(child)), shape_(shape), function_(std::move(function)) {}

  template <class Self, class Env>
  static consteval auto get_completion_signatures() noexcept {
    return bulk_signatures<
        std::conditional_t<std::is_lvalue_reference_v<Self>, const Child&, Child>, Env>();
  }
  template <class Receiver>
  [[nodiscard]] auto connect(Receiver receiver) const& {
    return BulkOperation<const Child&, Shape, Function, in_chunks, Receiver>(
        child_, shape_, function_, std::move(receiver));
  }
  template <class Receiver>
  [[nodiscard]] auto connect(Receiver receiver) && {
    return BulkOperation<Child, Shape, Function, in_chunks, Receiver>(
        std::move(child_), shape_, std::move(function_), std::move(receiver));
  }
  [[nodiscard]] decltype(auto) get_env() const noexcept { return ex::get_env(child_); }

 private:
  Child child_;
  Shape shape_;
  Function function_;
};

}  // namespace HEIST_NAMESPACE::execution
