// fork and join: calls that may run beside their caller (Forkable).
#pragma once

#include <cassert>
#include <concepts>
#include <coroutine>
#include <heist/error.hpp>
#include <heist/forkable.hpp>
#include <heist/kept_state.hpp>
#include <heist/misuse.hpp>
#include <heist/promise_state.hpp>
#include <heist/suspended_coroutine.hpp>
#include <type_traits>
#include <utility>

namespace heist {

/// A forked call's result; local to the coroutine that forked it, or to what that one's body owns.
/// Dropping it does not stop the call: its result is dropped as well.
///
/// Thread: that coroutine's.   Lifetime: must not outlive that coroutine's body.
template <class T>
class Forked {
 public:
  Forked(Forked&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  Forked& operator=(Forked&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~Forked() {
    if (frame_ != nullptr) frame_->parent->drop_child(*frame_);
  }

  /// What the call returned; by reference, as it stays here.
  ///
  /// Preconditions: join() came after the fork.   Errors: InvalidStateError when the call threw:
  /// join() has said what; std::invalid_argument when it was moved from.
  template <class Value = T>
    requires(!std::is_void_v<Value>)
  [[nodiscard]] std::add_lvalue_reference_t<Value> value() & {
    if constexpr (std::is_reference_v<Value>) {
      return *result();
    } else {
      return result();
    }
  }
  /// The same, to be moved from.
  template <class Value = T>
    requires(!std::is_void_v<Value>)
  [[nodiscard]] std::add_rvalue_reference_t<Value> value() && {
    return static_cast<std::add_rvalue_reference_t<Value>>(value());
  }

  /// For the library.
  explicit Forked(ForkablePromise<T>& frame) noexcept : frame_(&frame) {}

 private:
  auto& result() const {
    if (frame_ == nullptr) [[unlikely]]
      refuse_moved_from("Forked::value");
    assert(frame_->parent->children.all_ended() && "join() comes before value()");
    if (frame_->has_failed()) [[unlikely]]
      throw InvalidStateError("the forked call threw: join() has said what");
    return frame_->value();
  }

  ForkablePromise<T>* frame_;
};

/// What fork() gives, to be awaited.
template <class T>
class [[nodiscard]] Fork {
 public:
  explicit Fork(Forkable<T>&& call) noexcept : call_(std::move(call)) {}
  [[nodiscard]] ForkablePromise<T>& release() noexcept { return call_.release(); }

 private:
  Forkable<T> call_;
};

/// What join() gives, to be awaited.
class [[nodiscard]] Join {};

/// `Forked<T> child = co_await fork(f());` in a Forkable: runs the call; what follows the
/// `co_await` may run meanwhile, on another agent. When it has not begun as the call ends, this
/// agent goes on with it.
///
/// Errors: std::invalid_argument when it was moved from; what the call throws, join() does.
template <class T>
[[nodiscard]] Fork<T> fork(Forkable<T> call) {
  call.check_valid("fork");
  return Fork<T>(std::move(call));
}

/// `co_await join();` in a Forkable: goes on once all its forked calls have ended; on the agent of
/// the last one.
///
/// Errors: what a forked call threw since the last join(): of several, the first.
[[nodiscard]] inline Join join() noexcept { return {}; }

template <class T>
class ForkStart {
 public:
  explicit ForkStart(Fork<T>&& fork) noexcept : child_(&fork.release()) {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> parent) const noexcept {
    parent.promise().suspend_for(*child_, ForkFrame::Step::fork);
  }
  Forked<T> await_resume() const noexcept { return Forked<T>(*child_); }

 private:
  ForkablePromise<T>* child_;
};

class JoinWait {
 public:
  explicit JoinWait(ForkFrame& parent) noexcept : parent_(parent) {}

  [[nodiscard]] bool await_ready() const noexcept { return parent_.children.all_ended(); }
  void await_suspend(std::coroutine_handle<> /*parent*/) const noexcept {
    parent_.suspend(ForkFrame::Step::join);
  }
  void await_resume() const {
    parent_.destroy_dropped();
    parent_.rethrow_failure();
  }

 private:
  ForkFrame& parent_;
};

template <class T>
auto ForkablePromiseBase<T>::await_transform(Join /*join*/) noexcept {
  return JoinWait(*this);
}

/// How a coroutine that is no Forkable awaits one. The node is first the tree, then the microtask in which the coroutine goes on.
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
    root = &call_.frame();
    ended = &deliver_end;
    run_tree(*this);
  }
  T await_resume() { return call_.frame().take(); }

 private:
  static ForkRoot& of(LoopNode& node) noexcept {
    return static_cast<ForkRoot&>(static_cast<Reaction&>(node));
  }
  static void deliver_end(ForkTree& tree) noexcept { deliver(static_cast<ForkRoot&>(tree)); }
  static void resume(LoopNode& node, LoopCore& /*loop*/) noexcept { of(node).coroutine_.resume(); }
  static void destroy(LoopNode& node) noexcept { of(node).coroutine_.destroy(); }
  static constexpr LoopNodeOps table{LoopNodeKind::microtask, &resume, &destroy};

  Forkable<T> call_;
  SuspendedCoroutine coroutine_;
};

template <class T>
inline constexpr bool restores_state<Forkable<T>> = true;

}  // namespace heist
