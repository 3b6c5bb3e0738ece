// Forkable: a coroutine that its caller may fork, and that may fork others.
#pragma once

#include <coroutine>
#include <heist/error.hpp>
#include <heist/detail/fork_frame.hpp>
#include <heist/detail/misuse.hpp>
#include <heist/promise_handle.hpp>
#include <heist/detail/suspended_coroutine.hpp>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace heist {

template <class T>
class Forkable;
template <class T>
class Fork;
class Join;
template <class T>
class ForkCall;
template <class T>
class ForkStart;
class JoinWait;

template <class T>
inline constexpr bool is_forkable = false;
template <class T>
inline constexpr bool is_forkable<Forkable<T>> = true;

/// A task that returns one settles with its result.
template <class T>
struct Settled<Forkable<T>> {
  using type = T;
};

/// What both kinds (value, void) share.
template <class T>
class ForkablePromiseBase : public ForkFrame {
 public:
  using Stored = typename PromiseValue<T>::type;

  std::suspend_always initial_suspend() noexcept { return {}; }
  auto final_suspend() noexcept { return End{}; }
  void unhandled_exception() noexcept { this->fail(); }

  template <class U>
  auto await_transform(Forkable<U>&& child) {
    child.check_valid("co_await of a Forkable");
    return ForkCall<U>(std::move(child));
  }
  template <class U>
  auto await_transform(Fork<U>&& child) noexcept {
    return ForkStart<U>(std::move(child));
  }
  auto await_transform(Join join) noexcept;
  template <class Awaitable>
  void await_transform(Awaitable&& /*awaitable*/) {
    static_assert(!sizeof(Awaitable),
                  "a Forkable awaits Forkables, fork() and join() only: await promises and yields "
                  "before or after the "
                  "root of the tree, and move Forkables in");
  }

  /// Precondition: it has ended, and not failed.
  [[nodiscard]] Stored& value() noexcept { return *stored; }
  /// Precondition: it has ended.   Errors: what it threw.
  T take() {
    if (this->has_failed()) [[unlikely]]
      this->error().rethrow();
    if constexpr (std::is_reference_v<T>) {
      return *value();
    } else if constexpr (!std::is_void_v<T>) {
      return std::move(value());
    }
  }

  static void* operator new(std::size_t bytes) { return allocate_node(bytes); }
  static void operator delete(void* frame, std::size_t bytes) noexcept {
    release_node(frame, bytes);
  }

 protected:
  std::optional<Stored> stored;

 private:
  struct End {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> coroutine) const noexcept {
      coroutine.promise().suspend(Step::end);
    }
    void await_resume() const noexcept {}
  };
};

template <class T>
class ForkablePromise final : public ForkablePromiseBase<T> {
 public:
  Forkable<T> get_return_object() noexcept { return Forkable<T>(*this); }
  template <class Value>
  void return_value(Value&& value) {
    if constexpr (std::is_reference_v<T>) {
      this->stored = std::addressof(value);
    } else {
      this->stored.emplace(std::forward<Value>(value));
    }
  }
};
template <>
class ForkablePromise<void> final : public ForkablePromiseBase<void> {
 public:
  Forkable<void> get_return_object() noexcept;
  void return_void() noexcept {}
};

template <class T>
class ForkRoot;

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
/// until then; its local variables are gone as soon as it returns or throws, so join() before.
///
/// Spec:     contract CLU-6. The continuations left behind are stealable as any continuation of the
///           root's priority (CLU-1, CLU-3).   Differs from PRI-3: an agent goes on with what it
///           has begun at the priority which a signal had then; what it takes from others has the
///           new one.
/// Thread:   the agent's.   Errors: of the call: std::bad_alloc.
/// Cost:     a frame from the node pool; a fork and its end three atomic operations on the agent's
///         own lines.
/// Lifetime: what was not begun is destroyed with this object.
template <class T = void>
class [[nodiscard]] Forkable {
 public:
  using promise_type = ForkablePromise<T>;

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
  ForkRoot<T> operator co_await() && {
    check_valid("co_await of a Forkable");
    return ForkRoot<T>(std::move(*this));
  }

  /// For the library.
  explicit Forkable(ForkablePromise<T>& promise) noexcept : frame_(&promise) {
    promise.coroutine = std::coroutine_handle<ForkablePromise<T>>::from_promise(promise);
  }
  [[nodiscard]] ForkablePromise<T>& frame() noexcept { return *frame_; }
  /// Errors: std::invalid_argument, naming the call, when it was moved from.
  void check_valid(const char* call) const {
    if (frame_ == nullptr) [[unlikely]]
      refuse_moved_from(call);
  }
  [[nodiscard]] ForkablePromise<T>& release() noexcept { return *std::exchange(frame_, nullptr); }

 private:
  ForkablePromise<T>* frame_;
};

inline Forkable<void> ForkablePromise<void>::get_return_object() noexcept {
  return Forkable<void>(*this);
}

/// `co_await f()` within a Forkable.
template <class T>
class ForkCall {
 public:
  explicit ForkCall(Forkable<T>&& call) noexcept : call_(std::move(call)) {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> caller) noexcept {
    caller.promise().suspend_for(call_.frame(), ForkFrame::Step::call);
  }
  T await_resume() { return call_.frame().take(); }

 private:
  Forkable<T> call_;
};

}  // namespace heist
