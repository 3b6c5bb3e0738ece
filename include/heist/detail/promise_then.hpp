// Promise<T>::then: reactions that make a new promise.
#pragma once

#include <concepts>
#include <cstdint>
#include <heist/detail/access.hpp>
#include <heist/detail/adoption.hpp>
#include <heist/detail/misuse.hpp>
#include <heist/detail/promise_state.hpp>
#include <heist/detail/promise_traits.hpp>
#include <heist/version.hpp>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// Which promise then() was called on: a named one, or an rvalue, which gives a move-only value
/// away.
enum class ThenOf : std::uint8_t { lvalue, rvalue };

/// Whether the fulfilment callback gets the value itself.
template <class T, ThenOf of>
inline constexpr bool then_takes = [] {
  if constexpr (std::is_void_v<T> || std::is_reference_v<T>) {
    return false;
  } else {
    return of == ThenOf::rvalue && !is_copyable<T>;
  }
}();

/// Result of calling a fulfilment callback with a promise's value; no `type` when it cannot be
/// called.
template <class Callback, class T, ThenOf of>
struct FulfilResult
    : std::invoke_result<Callback&,
                         std::conditional_t<then_takes<T, of>, T, typename Promise<T>::Reference>> {
};
template <class Callback, ThenOf of>
struct FulfilResult<Callback, void, of> : std::invoke_result<Callback&> {};

/// Stands for "no on_rejected": rejections pass through.
struct PassThrough {};

/// Does what std::invoke does, whose header takes longer to compile than all of this one.
template <class Callback, class... Args>
decltype(auto) call_with(Callback& callback, Args&&... args) {
  return std::apply(callback, std::forward_as_tuple(std::forward<Args>(args)...));
}

/// The node of one `then`: the reaction to the source, and the state of the resulting promise.
template <class T, ThenOf of_what, class OnFulfilled, class OnRejected>
class ThenNode final
    : public Reaction,
      public PromiseState<SettledType<typename FulfilResult<OnFulfilled, T, of_what>::type>> {
 public:
  using Result = SettledType<typename FulfilResult<OnFulfilled, T, of_what>::type>;
  using State = PromiseState<Result>;

  template <class F, class R>
  ThenNode(Promise<T> source, F&& on_fulfilled, R&& on_rejected)
      : Reaction(table),
        State(&destroy, 2),
        source_(std::move(source)),
        on_fulfilled_(std::forward<F>(on_fulfilled)),
        on_rejected_(std::forward<R>(on_rejected)) {}

 private:
  static constexpr bool may_adopt =
      is_promise<typename FulfilResult<OnFulfilled, T, of_what>::type> || []() {
        if constexpr (std::same_as<OnRejected, PassThrough>)
          return false;
        else
          return is_promise<std::invoke_result_t<OnRejected&, const Reason&>>;
      }();
  struct NoAdoption {};

  static ThenNode& of(LoopNode& node) noexcept {
    return static_cast<ThenNode&>(static_cast<Reaction&>(node));
  }
  static void run(LoopNode& node, LoopCore& /*loop*/) noexcept { of(node).react(); }
  static void drop(LoopNode& node) noexcept {
    auto& self = of(node);
    discard_callbacks(self);
    self.settle_rejected(loop_closed_reason(), true);
    self.finish();
  }
  static constexpr LoopNodeOps table{LoopNodeKind::microtask, &run, &drop};

  void react() noexcept {
    Access::state(*source_).mark_handled();
    Reason error;
    bool adopting = false;
    try {
      adopting = call();
    } catch (...) {
      error = Reason::of_current_exception();  // now: users' destructors may rethrow another
      if (!error) error = no_reason_given();
    }
    if (adopting) return;
    if (error) {
      discard_callbacks(*this);
      this->settle_rejected(std::move(error), false);
    }
    finish();
  }

  /// Calls the callback that applies. True if the callback returned a promise, whose outcome is
  /// adopted.
  bool call() {
    auto& source = Access::state(*source_);
    if (source.status() == PromiseStatus::fulfilled) {
      if constexpr (std::is_void_v<T>) {
        return settle_with(*on_fulfilled_);
      } else if constexpr (then_takes<T, of_what>) {
        return settle_with(*on_fulfilled_, source.take_value());
      } else {
        return settle_with(*on_fulfilled_, std::as_const(*source_).get());
      }
    }
    if constexpr (std::same_as<OnRejected, PassThrough>) {
      discard_callbacks(*this);
      this->settle_rejected(source.reason(), source.is_abort());
      return false;
    } else {
      return settle_with(*on_rejected_, source.reason());
    }
  }

  template <class Callback, class... Args>
  bool settle_with(Callback& callback, Args&&... args) {
    using Returned = std::invoke_result_t<Callback&, Args...>;
    if constexpr (is_promise<Returned>) {
      auto promise = call_with(callback, std::forward<Args>(args)...);
      adoption_
          .emplace(Adopter<Result>{static_cast<State*>(this), true, &discard_callbacks, &adopted})
          .start(std::move(promise));
      return true;
    } else {
      if constexpr (std::is_void_v<Returned>) {
        call_with(callback, std::forward<Args>(args)...);
        this->emplace();
      } else if constexpr (std::is_reference_v<Returned>) {
        this->emplace(std::addressof(call_with(callback, std::forward<Args>(args)...)));
      } else {
        this->emplace(call_with(callback, std::forward<Args>(args)...));
      }
      discard_callbacks(*this);
      this->settle_fulfilled();
      return false;
    }
  }

  /// Ends the reaction's share of the node. The callbacks were destroyed before the promise
  /// settled.
  void finish() noexcept {
    source_.reset();
    release(static_cast<PromiseStateBase&>(*this));
  }
  static void discard_callbacks(State& state) noexcept {
    auto& self = static_cast<ThenNode&>(state);
    self.on_fulfilled_.reset();
    self.on_rejected_.reset();
  }
  static void adopted(State& state) noexcept { static_cast<ThenNode&>(state).finish(); }
  static void destroy(PromiseStateBase& base) noexcept {
    destroy_node(static_cast<ThenNode&>(static_cast<State&>(base)));
  }

  std::optional<Promise<T>> source_;
  std::optional<OnFulfilled> on_fulfilled_;
  std::optional<OnRejected> on_rejected_;
  std::conditional_t<may_adopt, std::optional<Adoption<Result>>, NoAdoption> adoption_;
};

/// How a reaction is bound to a scheduler.
inline auto binding_to(const Scheduler& scheduler) noexcept {
  return [&scheduler](Reaction& reaction) { reaction.bind_to(scheduler); };
}

/// Registers a bound ThenNode with its source.
template <ThenOf of, class T, class F, class R, class Bind>
auto make_then(const Promise<T>& source, F&& on_fulfilled, R&& on_rejected, Bind&& bind) {
  using Node = ThenNode<T, of, std::decay_t<F>, std::decay_t<R>>;
  Access::check_valid(source, "Promise::then");
  check_callback(on_fulfilled, "Promise::then");
  check_callback(on_rejected, "Promise::then");
  Node* node = make_node<Node>(source, std::forward<F>(on_fulfilled), std::forward<R>(on_rejected));
  try {
    bind(static_cast<Reaction&>(*node));
  } catch (...) {
    destroy_node(*node);
    throw;
  }
  node->set_home(node->home.get());
  auto result =
      Access::make<Promise<typename Node::Result>>(Ref<typename Node::State>::adopt(node));
  Access::state(source).attach(*node);
  return result;
}

/// The same, but misuse gives one readable error of the compiler.
template <ThenOf of, class T, class F, class R, class Bind>
auto checked_then(const Promise<T>& source, F&& on_fulfilled, R&& on_rejected, Bind&& bind) {
  if constexpr (requires { typename FulfilResult<std::decay_t<F>, T, of>::type; }) {
    return make_then<of>(source, std::forward<F>(on_fulfilled), std::forward<R>(on_rejected),
                         std::forward<Bind>(bind));
  } else {
    constexpr bool could_take =
        requires { typename FulfilResult<std::decay_t<F>, T, ThenOf::rvalue>::type; };
    static_assert(
        !could_take,
        "then(): the value is move-only and stays with a promise that has a name: take it by const "
        "reference, or give the promise away, as in std::move(promise).then(f)");
    static_assert(could_take, "then(): the callback cannot be called with the promise's value");
    return source;  // so that the use of the result gives no further error
  }
}

}  // namespace HEIST_NAMESPACE::detail
