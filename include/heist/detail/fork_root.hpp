// ForkRoot: how a coroutine that is no Forkable awaits one.
#pragma once

#include <coroutine>
#include <heist/detail/forkable_promise.hpp>
#include <heist/detail/kept_state.hpp>
#include <heist/detail/promise_state.hpp>
#include <heist/detail/suspended_coroutine.hpp>
#include <heist/version.hpp>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// This node is the tree first, and then the microtask in which the coroutine goes on.
template <class T>
class ForkRoot : private Reaction, private ForkTree {
 public:
  explicit ForkRoot(Forkable<T>&& call) noexcept : Reaction(table), call_(std::move(call)) {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Awaiting>
  void await_suspend(std::coroutine_handle<Awaiting> coroutine) {
    follows_settler = true;
    bind_to_current_loop();
    coroutine_ = SuspendedCoroutine(coroutine);
    leave_kept_state(coroutine);
    state = captured.state();
    root = &Access::frame(call_);
    ended = &deliver_end;
    run_tree(*this);
  }
  T await_resume() { return Access::frame(call_).take(); }

 private:
  static ForkRoot& of(LoopNode& node) noexcept {
    return static_cast<ForkRoot&>(static_cast<Reaction&>(node));
  }
  static void deliver_end(ForkTree& tree) noexcept { deliver(static_cast<ForkRoot&>(tree)); }
  static void resume(LoopNode& node, LoopCore& /*loop*/) noexcept { of(node).coroutine_.resume(); }
  static void destroy(LoopNode& node) noexcept {
    of(node).coroutine_.destroy(of(node).captured.state());
  }
  static constexpr LoopNodeOps table{LoopNodeKind::microtask, &resume, &destroy};

  Forkable<T> call_;
  SuspendedCoroutine coroutine_;
};

template <class T>
inline constexpr bool restores_state<Forkable<T>> = true;

}  // namespace HEIST_NAMESPACE::detail
