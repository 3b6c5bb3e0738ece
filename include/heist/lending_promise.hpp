// post_with_lending, LendingPromise: who awaits a task lends it the priority that it needs.
#pragma once

#include <concepts>
#include <heist/detail/await_warning.hpp>
#include <heist/detail/forward.hpp>
#include <heist/detail/kept_state.hpp>
#include <heist/detail/lending_awaiter.hpp>
#include <heist/detail/ref.hpp>
#include <heist/promise.hpp>
#include <heist/scheduler.hpp>
#include <heist/task_signal.hpp>
#include <heist/version.hpp>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE {

/// The promise of a task to which the coroutines that await it lend their priorities. In all other
/// respects it is a Promise, and a copy that is only that lends nothing.
///
/// Spec:   contract LND-7.   Thread: as Promise.
template <class T>
class [[nodiscard]] LendingPromise : public Promise<T> {
 public:
  // Coroutines return a Promise.
  using promise_type = void;

  /// As `co_await` of a Promise. Meanwhile the task, and what it goes on with, has at least the
  /// priority of this coroutine.
  ///
  /// Cost: as that, and two nodes for a coroutine's first `co_await` that lends; nothing more when
  ///       the promise has settled.
  detail::LendingAwaiter<T> operator co_await() const& noexcept { return awaiter(false); }
  HEIST_WARNS_AWAIT_OF_UNNAMED
  detail::LendingAwaiter<T> operator co_await() && noexcept { return awaiter(true); }
  detail::LendingAwaiter<T> operator co_await() const&& noexcept { return awaiter(true); }

  /// As Promise::taken.
  // NOLINTNEXTLINE(readability-const-return-type): awaiting a const rvalue does not warn.
  [[nodiscard]] const LendingPromise taken() & noexcept { return *this; }

 private:
  friend struct detail::Access;
  LendingPromise(Promise<T> promise, detail::Ref<detail::LentPriority> borrower) noexcept
      : Promise<T>(std::move(promise)), borrower_(std::move(borrower)) {}

  [[nodiscard]] detail::LendingAwaiter<T> awaiter(bool may_take) const noexcept {
    const bool lends = this->valid() && !this->settled();
    return detail::LendingAwaiter<T>(*this, may_take,
                                     lends ? borrower_ : detail::Ref<detail::LentPriority>());
  }

  detail::Ref<detail::LentPriority> borrower_;
};

namespace detail {

template <class T>
inline constexpr bool restores_state<LendingPromise<T>> = true;

/// What a task needs to which others lend.
struct Borrower {
  Ref<LentPriority> priority;
  TaskSignal signal;  ///< aborts as that of the options does, and has the lent priority
};
/// Errors: as post_task.
[[nodiscard]] HEIST_EXPORT Borrower make_borrower(const Scheduler& scheduler,
                                                  const PostTaskOptions& options);

}  // namespace detail

/// As `scheduler.post_task(callback, options)`; besides, every coroutine that awaits the promise
/// lends its priority to the task. So an urgent coroutine does not wait behind what is less urgent
/// than itself only because the task that it needs was posted with a low priority.
///
/// A task that is queued already moves, and so do all its continuations. It is never raised above
/// the ceiling of `scheduler`. `get()`, `then()` and combinators lend nothing.
///
/// Spec:   contract LND-7.   Thread: any, lock-free.   Blocks: never.   Errors: as post_task.
/// Cost:   as post_task with a signal, and two nodes, or three if the options have a TaskSignal.
template <class Callback>
  requires std::invocable<std::decay_t<Callback>&>
[[nodiscard]] auto post_with_lending(const Scheduler& scheduler, Callback&& callback,
                                     const PostTaskOptions& options = {}) {
  detail::Borrower borrower = detail::make_borrower(scheduler, options);
  auto promise = scheduler.post_task(
      std::forward<Callback>(callback),
      PostTaskOptions{
          .signal = std::move(borrower.signal), .delay = options.delay, .label = options.label});
  using Result = typename decltype(promise)::value_type;
  return detail::Access::make<LendingPromise<Result>>(std::move(promise),
                                                      std::move(borrower.priority));
}

}  // namespace HEIST_NAMESPACE
