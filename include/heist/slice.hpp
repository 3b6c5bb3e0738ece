// slice: a coroutine that is a cooperative task gives way when its slice is over.
#pragma once

#include <coroutine>
#include <heist/cooperative_callback.hpp>
#include <heist/detail/kept_state.hpp>
#include <heist/detail/suspended_coroutine.hpp>

namespace heist {

/// For the library: the cooperative task that runs on this thread.
namespace cooperative {
/// Whether it is to give way.   Errors: NotAllowedError outside of any task, or when it has given
/// way already.
[[nodiscard]] bool must_give_way();
/// It goes on with this coroutine.
void give_way(SuspendedCoroutine coroutine) noexcept;
/// Its slice.
[[nodiscard]] Slice current_slice() noexcept;
}  // namespace cooperative

/// What slice() gives.
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

/// `co_await slice()` in a coroutine that a CooperativeScheduler calls: goes on at once while there
/// is time left, or the task is late; else the rest of the coroutine is the task's next callback.
/// It gives the slice it goes on in. When the task is cancelled meanwhile the coroutine is
/// destroyed, and its promise rejected with an AbortError.
///
/// Coroutines that it calls and awaits may await slice(), too. What settles only later, in another
/// task, resumes it outside of its cooperative task: there slice() is refused.
///
/// Spec:   contract COOP-8.   Thread: the loop's.
/// Errors: of the `co_await`: NotAllowedError outside of a cooperative task, and for a second
///         coroutine in one call.
/// Cost:   should_yield(); nothing is allocated.
inline SliceAwaiter slice() noexcept { return {}; }

}  // namespace heist
