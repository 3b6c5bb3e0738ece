// How a cooperative task calls its callback, which may be a coroutine.
#pragma once

#include <concepts>
#include <coroutine>
#include <functional>
#include <heist/cooperative_host.hpp>
#include <heist/detail/access.hpp>
#include <heist/detail/export.hpp>
#include <heist/detail/forward.hpp>
#include <heist/detail/kept_state.hpp>
#include <heist/detail/suspended_coroutine.hpp>
#include <heist/error.hpp>
#include <heist/version.hpp>
#include <utility>

namespace HEIST_NAMESPACE::detail {

class CallbackTaken;

namespace cooperative {

template <class Callback>
concept WithSlice = std::invocable<Callback&, const Slice&>;
template <class Callback>
concept Callable = WithSlice<Callback> || std::invocable<Callback&>;

template <class Callback>
decltype(auto) call(Callback& callback, const Slice& slice) {
  if constexpr (WithSlice<Callback>) {
    return std::invoke(callback, slice);
  } else {
    return std::invoke(callback);
  }
}

/// To be called before a coroutine is.   Errors: NotAllowedError on a CooperativeHost, where nobody
/// would resume a coroutine that awaits.
HEIST_EXPORT void check_coroutine();

}  // namespace cooperative

/// The cooperative task that runs on this thread.
namespace cooperative {
/// Whether the task must give way.   Errors: NotAllowedError outside of any task, or when the task
/// has given way already.
[[nodiscard]] HEIST_EXPORT bool must_give_way();
/// The running task gives way, and goes on later by resuming this coroutine.
HEIST_EXPORT void give_way(SuspendedCoroutine coroutine) noexcept;
/// The slice of the running task.
[[nodiscard]] HEIST_EXPORT Slice current_slice() noexcept;
}  // namespace cooperative

/// The awaitable that slice() returns.
class [[nodiscard]] SliceAwaiter {
 public:
  [[nodiscard]] bool await_ready() const { return !cooperative::must_give_way(); }
  template <class Awaiting>
  void await_suspend(std::coroutine_handle<Awaiting> coroutine) const noexcept {
    leave_kept_state(coroutine);
    cooperative::give_way(SuspendedCoroutine(coroutine));
  }
  Slice await_resume() const noexcept { return cooperative::current_slice(); }
};

/// Cooperative tasks have no scheduling state to restore.
template <>
inline constexpr bool restores_state<SliceAwaiter> = true;

}  // namespace HEIST_NAMESPACE::detail
