// LendingAwaiter: how a coroutine awaits a promise, and lends its priority to the task meanwhile.
#pragma once

#include <coroutine>
#include <heist/detail/coroutine.hpp>
#include <heist/detail/kept_state.hpp>
#include <heist/detail/lent_lock.hpp>
#include <heist/detail/ref.hpp>
#include <heist/version.hpp>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// Lends from before the wait until the coroutine goes on, or its frame ends.
template <class T>
class LendingAwaiter {
 public:
  /// `borrower` is null when nothing is to be lent.
  LendingAwaiter(Promise<T> promise, bool may_take, Ref<LentPriority> borrower) noexcept
      : awaiter_(std::move(promise), may_take), borrower_(std::move(borrower)) {}
  LendingAwaiter(const LendingAwaiter&) = delete;
  LendingAwaiter& operator=(const LendingAwaiter&) = delete;
  ~LendingAwaiter() { take_back(); }

  [[nodiscard]] bool await_ready() const noexcept { return awaiter_.await_ready(); }
  template <class Awaiting>
  void await_suspend(std::coroutine_handle<Awaiting> coroutine) {
    if (!borrower_) return awaiter_.await_suspend(coroutine);
    lender_.enter(kept_state_of(coroutine));
    lender_.lend_to(*borrower_);
    try {
      awaiter_.await_suspend(coroutine);  // this object may be gone afterwards
    } catch (...) {
      end_lending();
      throw;
    }
  }
  T await_resume() {
    end_lending();
    return awaiter_.await_resume();
  }

 private:
  void take_back() noexcept {
    if (borrower_) lender_.take_back_from(*borrower_);
  }
  void end_lending() noexcept {
    take_back();
    lender_.leave();
  }

  PromiseAwaiter<T> awaiter_;
  Ref<LentPriority> borrower_;
  Lender lender_;
};

}  // namespace HEIST_NAMESPACE::detail
