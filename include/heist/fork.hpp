// Forkable, fork and join: calls that may run beside their caller.
#pragma once

#include <cassert>
#include <concepts>
#include <coroutine>
#include <heist/detail/access.hpp>
#include <heist/detail/fork_root.hpp>
#include <heist/detail/forkable_promise.hpp>
#include <heist/detail/misuse.hpp>
#include <heist/error.hpp>
#include <heist/version.hpp>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE {

/// A call that has not begun. Within another Forkable `co_await f()` is a call, and `co_await
/// fork(f())` lets what follows it run meanwhile, on another agent that has nothing more urgent to
/// do:
///
///   Forkable<int> fib(int n) {
///     if (n < 2) co_return n;
///     Forked<int> a = co_await fork(fib(n - 1));
///     int b = co_await fib(n - 2);
///     co_await join();
///     co_return a.value() + b;
///   }
///
/// A tree of calls is one task: `scheduler.post_task([] { return fib(30); })`, or `co_await
/// fib(30)` in any coroutine on an agent. Calls run depth-first, on the agent that began them, in
/// the order of a program without forks; an agent that has nothing to run takes the oldest
/// continuation. All have the scheduling state of the root. Only on a cluster's own scheduler do
/// others join in; elsewhere a fork is a call.
///
/// A call ends when its forked children have, also when it throws. They may use its parameters
/// until then; its local variables are gone as soon as it returns or throws, so join() before. The
/// parameters go at the end of the call at the earliest, and with its Forked at the latest: a
/// result must not refer to them.
///
/// Spec:     contract CLU-6. The continuations left behind are stealable as any continuation of the
///           root's priority (CLU-1, CLU-3).   Differs from PRI-3: an agent goes on with what it
///           has begun at the priority which a signal had then; what it takes from others has the
///           new one.
/// Thread:   the agent's.   Errors: of the call: std::bad_alloc.
/// Cost:     a frame from the node pool; a fork and its end three atomic operations on the agent's
///         own lines.
/// Lifetime: a call that was not begun is destroyed with this object.
template <class T>
class [[nodiscard]] Forkable {
 public:
  using promise_type = detail::ForkablePromise<T>;

  Forkable(Forkable&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  Forkable& operator=(Forkable&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~Forkable() {
    if (frame_ != nullptr) frame_->coroutine.destroy();
  }

  /// Runs it as the root of a tree; the awaiting coroutine goes on as a microtask of the agent on
  /// which it ended, with the scheduling state it had.
  ///
  /// Thread: an agent.   Errors: what it threw; NotAllowedError off an agent; std::invalid_argument
  /// when it was moved from, as it is once it was awaited.
  detail::ForkRoot<T> operator co_await() && {
    check_valid("co_await of a Forkable");
    return detail::ForkRoot<T>(std::move(*this));
  }

 private:
  friend struct detail::Access;

  explicit Forkable(detail::ForkablePromise<T>& promise) noexcept : frame_(&promise) {
    promise.coroutine = std::coroutine_handle<detail::ForkablePromise<T>>::from_promise(promise);
  }
  [[nodiscard]] detail::ForkablePromise<T>& frame() noexcept { return *frame_; }
  /// Errors: std::invalid_argument, naming the call, when it was moved from.
  void check_valid(const char* call) const {
    if (frame_ == nullptr) [[unlikely]]
      detail::refuse_moved_from(call);
  }
  [[nodiscard]] detail::ForkablePromise<T>& release() noexcept {
    return *std::exchange(frame_, nullptr);
  }

  detail::ForkablePromise<T>* frame_;
};

/// The result of a forked call. It belongs to the body of the coroutine that forked the call: to a
/// local variable, or to what one owns. Dropping it does not stop the call, but drops its result.
/// An empty one takes a result by assignment, so that a loop can fork into an array.
///
/// Thread: that coroutine's.   Lifetime: must not outlive that coroutine's body.
template <class T>
class Forked {
 public:
  Forked() noexcept = default;
  Forked(Forked&& other) noexcept = default;
  Forked& operator=(Forked&& other) noexcept {
    Forked taken(std::move(other));  // first, because `other` may be a part of the old result
    drop();
    landing_ = std::move(taken.landing_);
    return *this;
  }
  ~Forked() { drop(); }

  /// What the call returned; by reference, as it stays here. Moving this object may move it.
  ///
  /// Precondition: join() came after the fork.
  /// Errors: InvalidStateError when the call threw (join() has thrown what it threw);
  ///         std::invalid_argument when no call was forked into this object, or it was moved from.
  template <class Value = T>
    requires(!std::is_void_v<Value>)
  [[nodiscard]] std::add_lvalue_reference_t<Value> value() & {
    check_ended();
    if constexpr (std::is_reference_v<Value>) {
      return *landing_.value();
    } else {
      return landing_.value();
    }
  }
  /// The same, for the caller to move from.
  template <class Value = T>
    requires(!std::is_void_v<Value>)
  [[nodiscard]] std::add_rvalue_reference_t<Value> value() && {
    return static_cast<std::add_rvalue_reference_t<Value>>(value());
  }

 private:
  friend struct detail::Access;
  explicit Forked(detail::Landing<T>&& landing) noexcept : landing_(std::move(landing)) {}

  void check_ended() const {
    if (landing_.is_empty()) [[unlikely]]
      detail::refuse_no_result("Forked::value");
    auto* const frame = landing_.frame();
    if (frame == nullptr) return;
    assert(frame->parent->children.all_ended() && "join() comes before value()");
    if (frame->has_failed()) [[unlikely]]
      throw InvalidStateError("the forked call threw: join() has said what");
  }
  void drop() noexcept {
    if (auto* const frame = landing_.release_frame()) frame->parent->drop_child(*frame);
  }

  detail::Landing<T> landing_;
};

/// `Forked<T> child = co_await fork(f());` in a Forkable runs the call. What follows the `co_await`
/// may run meanwhile, on another agent. If none has taken it when the call ends, this agent goes on
/// with it.
///
/// Errors: std::invalid_argument when it was moved from; what the call throws, join() does.
template <class T>
[[nodiscard]] detail::Fork<T> fork(Forkable<T>&& call) {
  detail::Access::check_valid(call, "fork");
  return detail::Fork<T>(std::move(call));
}

/// `co_await join();` in a Forkable goes on once all its forked calls have ended, on the agent of
/// the last one.
///
/// Errors: what a forked call threw since the last join(): of several, the first.
[[nodiscard]] inline detail::Join join() noexcept { return {}; }

inline Forkable<void> detail::ForkablePromise<void>::get_return_object() noexcept {
  return detail::Access::make<Forkable<void>>(*this);
}

}  // namespace HEIST_NAMESPACE
