// Access: the one way from a public handle to what it stands for, and back.
#pragma once

#include <heist/detail/forward.hpp>
#include <heist/version.hpp>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// Reaches the private members of handles, for the library and for the templates of its headers.
/// Users need not and must not use it.
struct Access {
  /// Makes a handle through its private constructor.
  template <class Handle, class... Args>
  [[nodiscard]] static Handle make(Args&&... args) {
    return Handle(std::forward<Args>(args)...);
  }
  /// Errors: std::invalid_argument, naming the call, when the handle was moved from.
  template <class Handle>
  static void check_valid(const Handle& handle, const char* call) {
    handle.check_valid(call);
  }

  /// The object behind an AbortSignal, an EventLoop, an Agent or a Scheduler.
  template <class Handle>
  [[nodiscard]] static decltype(auto) core(const Handle& handle) noexcept {
    return handle.core();
  }
  /// The object behind an AbortSignal; the handle gives its reference to the caller.
  template <class Handle>
    requires(!std::is_reference_v<Handle>)
  [[nodiscard]] static auto into_core(Handle&& handle) noexcept {
    return std::forward<Handle>(handle).into_core();
  }
  /// Where a Scheduler posts.
  template <class Handle>
  [[nodiscard]] static decltype(auto) home(const Handle& handle) noexcept {
    return handle.home();
  }
  /// The state that a Promise shares.
  template <class T>
  [[nodiscard]] static PromiseState<T>& state(const Promise<T>& promise) noexcept {
    return promise.state();
  }
  /// The state that a Promise shares; the handle gives its reference to the caller.
  template <class T>
  [[nodiscard]] static Ref<PromiseState<T>> into_state(Promise<T>&& promise) noexcept {
    return std::move(promise).into_state();
  }
  /// The coroutine of a Forkable.
  template <class T>
  [[nodiscard]] static ForkablePromise<T>& frame(Forkable<T>& call) noexcept {
    return call.frame();
  }
  /// The coroutine of a Forkable, which belongs to the caller from here on.
  template <class T>
  [[nodiscard]] static ForkablePromise<T>& release(Forkable<T>& call) noexcept {
    return call.release();
  }
  /// The task of a CooperativeTask.
  template <class Handle>
  [[nodiscard]] static decltype(auto) node(const Handle& task) noexcept {
    return task.node();
  }
  /// inherits() says whether a YieldSignal stands for the running task's signal; signal() is the
  /// signal that it names, or null.
  template <class Handle>
  [[nodiscard]] static bool inherits(const Handle& signal) noexcept {
    return signal.inherits();
  }
  template <class Handle>
  [[nodiscard]] static auto* signal(const Handle& signal) noexcept {
    return signal.signal();
  }
  /// The box that the copies of a Reason share.
  template <class Handle>
  [[nodiscard]] static decltype(auto) box(const Handle& reason) noexcept {
    return reason.box();
  }
  template <class Handle>
    requires(!std::is_reference_v<Handle>)
  [[nodiscard]] static auto into_box(Handle&& reason) noexcept {
    return std::forward<Handle>(reason).box_;
  }
};

}  // namespace HEIST_NAMESPACE::detail
