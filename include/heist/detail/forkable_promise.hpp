// The coroutine promise of Forkable, and the awaiters that may be used in a Forkable.
#pragma once

#include <coroutine>
#include <heist/detail/access.hpp>
#include <heist/detail/fork_frame.hpp>
#include <heist/detail/landing.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/promise_state.hpp>
#include <heist/detail/promise_traits.hpp>
#include <heist/version.hpp>
#include <optional>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE::detail {

template <class T>
class Fork;
template <class T>
class ForkCall;
template <class T>
class ForkRoot;

/// The awaitable that join() returns.
class [[nodiscard]] Join {};

/// The part that both kinds of promise (value, void) share.
template <class T>
class ForkablePromiseBase : public ForkFrame {
 public:
  using Stored = typename PromiseValue<T>::type;

  std::suspend_always initial_suspend() noexcept { return {}; }
  auto final_suspend() noexcept { return End{*this}; }
  void unhandled_exception() noexcept { this->fail(); }

  template <class U>
  auto await_transform(Forkable<U>&& child) {
    Access::check_valid(child, "co_await of a Forkable");
    return ForkCall<U>(std::move(child));
  }
  template <class U>
  Fork<U>&& await_transform(Fork<U>&& child) noexcept {
    return std::move(child);
  }
  auto await_transform(Join join) noexcept;
  template <class Awaitable>
  void await_transform(Awaitable&& /*awaitable*/) {
    static_assert(!sizeof(Awaitable),
                  "a Forkable awaits Forkables, fork() and join() only: await promises and yields "
                  "before or after the "
                  "root of the tree, and move Forkables in");
  }

  /// Precondition: the coroutine has ended, and has not failed.
  [[nodiscard]] Stored& value() noexcept { return *stored; }
  /// Precondition: the coroutine has ended.   Errors: what it threw.
  T take() {
    if (this->has_failed()) [[unlikely]]
      this->error().rethrow();
    if constexpr (std::is_reference_v<T>) {
      return *value();
    } else if constexpr (!std::is_void_v<T>) {
      return std::move(value());
    }
  }

  static void* operator new(std::size_t bytes) { return allocate_node(bytes, true); }
  static void operator delete(void* frame, std::size_t bytes) noexcept {
    release_node(frame, bytes);
  }

  Landing<T>* landing = nullptr;  ///< in the caller's frame; null: a root

 protected:
  std::optional<Stored> stored;

 private:
  /// The end of a call. A frame that lands is destroyed as the coroutine goes on.
  struct End {
    [[nodiscard]] bool await_ready() const noexcept { return frame.try_land(); }
    void await_suspend(std::coroutine_handle<> /*frame*/) const noexcept {
      frame.suspend(ForkRun::Step::end);
    }
    void await_resume() const noexcept {}
    ForkablePromiseBase& frame;
  };

  [[nodiscard]] bool try_land() noexcept {
    if constexpr (can_land<T>) {
      if (landing == nullptr || !this->goes_before_caller()) return false;
      landing->land(std::move(stored));
      this->run->go_back_to(*this->parent);
      return true;
    }
    return false;
  }
};

template <class T>
class ForkablePromise final : public ForkablePromiseBase<T> {
 public:
  Forkable<T> get_return_object() noexcept { return Access::make<Forkable<T>>(*this); }
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

/// `co_await f()` within a Forkable.
template <class T>
class ForkCall {
 public:
  explicit ForkCall(Forkable<T>&& call) noexcept : landing_(Access::release(call)) {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> caller) noexcept {
    return !caller.promise().call(landing_.prepare());
  }
  T await_resume() { return landing_.take(); }

 private:
  Landing<T> landing_;
};

/// The awaitable that fork() returns.
template <class T>
class [[nodiscard]] Fork {
 public:
  explicit Fork(Forkable<T>&& call) noexcept : landing_(Access::release(call)) {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    static_assert(std::is_base_of_v<ForkFrame, Promise>,
                  "fork() is awaited in a Forkable: return one from post_task, or await its root");
    return !parent.promise().fork(landing_.prepare());
  }
  Forked<T> await_resume() noexcept { return Access::make<Forked<T>>(std::move(landing_)); }

 private:
  Landing<T> landing_;
};

class JoinWait {
 public:
  explicit JoinWait(ForkFrame& parent) noexcept : parent_(parent) {}

  [[nodiscard]] bool await_ready() const noexcept { return parent_.children.all_ended(); }
  void await_suspend(std::coroutine_handle<> /*parent*/) const noexcept {
    parent_.suspend(ForkRun::Step::join);
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

}  // namespace HEIST_NAMESPACE::detail
