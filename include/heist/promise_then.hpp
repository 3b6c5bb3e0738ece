// Promise<T>::then: reactions that make a new promise.
#pragma once

#include <concepts>
#include <functional>
#include <heist/adoption.hpp>
#include <heist/promise_handle.hpp>
#include <optional>
#include <type_traits>
#include <utility>

namespace heist {

/// Result of calling a fulfilment callback with a promise's value.
template <class Callback, class T>
struct FulfilResult : std::invoke_result<Callback&, typename Promise<T>::Reference> {};
template <class Callback>
struct FulfilResult<Callback, void> : std::invoke_result<Callback&> {};

/// Stands for "no on_rejected": rejections pass through.
struct PassThrough {};

/// A `then`: reaction to the source, and the state of the resulting promise, in one node.
template <class T, class OnFulfilled, class OnRejected>
class ThenNode final
    : public Reaction,
      public PromiseState<SettledType<typename FulfilResult<OnFulfilled, T>::type>> {
 public:
  using Result = SettledType<typename FulfilResult<OnFulfilled, T>::type>;
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
      is_promise<typename FulfilResult<OnFulfilled, T>::type> || []() {
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
  static void abandon(LoopNode& node) noexcept {
    auto& self = of(node);
    discard_callbacks(self);
    self.settle_rejected(loop_closed_reason(), true);
    self.finish();
  }
  static constexpr LoopNodeOps table{LoopNodeKind::microtask, &run, &abandon};

  void react() noexcept {
    source_->state().mark_handled();
    Reason error;
    bool adopting = false;
    try {
      adopting = call();
    } catch (...) {
      error = Reason::of_current_exception();  // before users' destructors rethrow another
      if (!error) error = no_reason_given();
    }
    if (adopting) return;
    if (error) {
      discard_callbacks(*this);
      this->settle_rejected(std::move(error), false);
    }
    finish();
  }

  /// Calls the callback that applies; true when the result is adopted from a promise it returned.
  bool call() {
    auto& source = source_->state();
    if (source.status() == PromiseStatus::fulfilled) {
      if constexpr (std::is_void_v<T>) {
        return settle_with(*on_fulfilled_);
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
      auto promise = std::invoke(callback, std::forward<Args>(args)...);
      adoption_
          .emplace(Adopter<Result>{static_cast<State*>(this), true, &discard_callbacks, &adopted})
          .start(std::move(promise));
      return true;
    } else {
      if constexpr (std::is_void_v<Returned>) {
        std::invoke(callback, std::forward<Args>(args)...);
        this->emplace();
      } else if constexpr (std::is_reference_v<Returned>) {
        this->emplace(std::addressof(std::invoke(callback, std::forward<Args>(args)...)));
      } else {
        this->emplace(std::invoke(callback, std::forward<Args>(args)...));
      }
      discard_callbacks(*this);
      this->settle_fulfilled();
      return false;
    }
  }

  /// Ends the reaction's share of the node. The callbacks went before the promise settled.
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

/// Registers a bound ThenNode with its source.
template <class T, class F, class R, class Bind>
auto make_then(const Promise<T>& source, F&& on_fulfilled, R&& on_rejected, Bind&& bind) {
  using Node = ThenNode<T, std::decay_t<F>, std::decay_t<R>>;
  Node* node = make_node<Node>(source, std::forward<F>(on_fulfilled), std::forward<R>(on_rejected));
  try {
    bind(static_cast<Reaction&>(*node));
  } catch (...) {
    destroy_node(*node);
    throw;
  }
  node->set_home(node->loop.get());
  Promise<typename Node::Result> result(Ref<typename Node::State>::adopt(node));
  source.state().attach(*node);
  return result;
}

template <class T>
template <class OnFulfilled>
auto Promise<T>::then(OnFulfilled&& on_fulfilled) const {
  return then(std::forward<OnFulfilled>(on_fulfilled), PassThrough{});
}

template <class T>
template <class OnFulfilled, class OnRejected>
  requires(!std::same_as<std::remove_cvref_t<OnFulfilled>, Scheduler>)
auto Promise<T>::then(OnFulfilled&& on_fulfilled, OnRejected&& on_rejected) const {
  return make_then(*this, std::forward<OnFulfilled>(on_fulfilled),
                   std::forward<OnRejected>(on_rejected),
                   [](Reaction& reaction) { reaction.bind_to_current_loop(); });
}

template <class T>
template <class OnFulfilled>
auto Promise<T>::then(const Scheduler& scheduler, OnFulfilled&& on_fulfilled) const {
  return then(scheduler, std::forward<OnFulfilled>(on_fulfilled), PassThrough{});
}

template <class T>
template <class OnFulfilled, class OnRejected>
auto Promise<T>::then(const Scheduler& scheduler, OnFulfilled&& on_fulfilled,
                      OnRejected&& on_rejected) const {
  return make_then(*this, std::forward<OnFulfilled>(on_fulfilled),
                   std::forward<OnRejected>(on_rejected),
                   [&scheduler](Reaction& reaction) { reaction.bind_to(scheduler); });
}

}  // namespace heist
