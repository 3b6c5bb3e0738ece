// PromiseWait: a handler of Asio that waits for a promise.
#pragma once

#include <cstdint>
#include <exception>
#include <heist/abort_signal.hpp>
#include <heist/asio/library.hpp>
#include <heist/asio/wait_room.hpp>
#include <heist/detail/access.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/promise_state.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/report_error.hpp>
#include <heist/detail/sync.hpp>
#include <heist/error.hpp>
#include <heist/promise.hpp>
#include <optional>
#include <type_traits>
#include <utility>

namespace HEIST_ASIO_NAMESPACE {

[[nodiscard]] inline std::exception_ptr aborted_exception() {
  return std::make_exception_ptr(system_error(net::error::operation_aborted));
}

/// Whether a rejection comes from an abort or a close without a reason of its own, which is told
/// without throwing it: a close may bring many.
[[nodiscard]] inline bool is_plain_abort(const detail::PromiseStateBase& rejected) {
  const Reason& reason = rejected.reason();
  return reason == detail::close_abort_reason() ||
         (rejected.is_abort() && !reason.is_error() && reason.exception());
}

/// What a handler is told of a rejection: the exception, or operation_aborted of an AbortError.
[[nodiscard]] inline std::exception_ptr exception_of(const detail::PromiseStateBase& rejected) {
  if (is_plain_abort(rejected)) return aborted_exception();
  try {
    rejected.reason().rethrow();
  } catch (const AbortError&) {
    return aborted_exception();
  } catch (...) {
    return std::current_exception();
  }
}

/// Returns an object that keeps the executor's context busy for as long as it exists. This is a
/// copy of the executor that tracks work. Executors of the older Networking TS have no such copy,
/// and get a guard. Guards cannot serve all executors, since they do not compile with a strand of
/// ours: they take each strand for an executor of the Networking TS.
template <class Executor>
[[nodiscard]] auto work_of(const Executor& executor) {
  if constexpr (net::execution::is_executor<Executor>::value) {
    return net::prefer(executor, net::execution::outstanding_work.tracked);
  } else {
    return net::make_work_guard(executor);
  }
}

/// A wait for a promise, which the promise ends or the handler's cancellation slot.
///
/// It is a reaction without a home: as nothing takes it, the settler drops it, once it has
/// delivered the others, and that ends the wait.
///
/// Roles   settler: whoever settles the promise.  canceller: the thread of the handler's slot.
///         executor: calls the handler, once one of the two has posted the end of the wait.
/// States  is_over_: false, then true for good.
/// I1      Whoever changes is_over_ posts the end of the wait, in room_. This happens once. The
///         executor, which orders itself after that, has all but promise_ from then on.
/// I2      All else is written before the slot and the promise know the wait. promise_ is the
///         settler's from then on; if it has posted the end, the executor's.
/// Reclamation  counted: one share is the promise's, until it settles, one the slot's, and one that
///         of the posted end, which lies within.
/// Progress  as the executor's post.
/// Proof   tests/asio/async_wait_test.cpp
template <class T, class Handler>
class PromiseWait final : public detail::Reaction {
  using Work = decltype(work_of(std::declval<net::associated_executor_t<Handler>>()));

 public:
  explicit PromiseWait(Promise<T> promise, Handler handler)
      : Reaction(table),
        work_(work_of(net::get_associated_executor(handler))),
        handler_(std::move(handler)),
        promise_(std::move(promise)) {}

  static void start(Promise<T> promise, Handler handler) {
    auto& state = detail::Access::state(promise);
    auto wait = detail::Ref<PromiseWait>::adopt(
        detail::make_node<PromiseWait>(std::move(promise), std::move(handler)));
    auto slot = net::get_associated_cancellation_slot(*wait->handler_);
    if (slot.is_connected()) slot.assign(Cancel{wait});
    state.attach(*wait.detach());
  }

  friend void retain(PromiseWait& wait) noexcept { wait.shares_.add(); }
  friend void release(PromiseWait& wait) noexcept {
    if (wait.shares_.drop()) detail::destroy_node(wait);
  }

 private:
  struct Cancel {
    void operator()(net::cancellation_type type) const {
      if (type != net::cancellation_type::none) wait->end(EndedBy::slot);
    }
    detail::Ref<PromiseWait> wait;
  };

  /// The end of a wait, as its executor calls it.
  class End {
   public:
    using allocator_type = net::associated_allocator_t<Handler>;

    explicit End(PromiseWait& wait) noexcept : wait_(detail::Ref<PromiseWait>::share(&wait)) {}
    End(End&&) noexcept = default;
    End& operator=(End&&) = delete;
    /// The wait may stay until the promise settles; nothing of the handler does.
    ~End() {
      if (wait_) wait_->drop_handler();
    }

    [[nodiscard]] allocator_type get_allocator() const noexcept {
      return net::get_associated_allocator(*wait_->handler_);
    }
    void operator()() { wait_->call(); }

   private:
    detail::Ref<PromiseWait> wait_;
  };

  enum class EndedBy : std::uint8_t { settler, slot };

  // NOLINTNEXTLINE(bugprone-exception-escape): what is thrown within goes to the error hook
  static void settle(detail::LoopNode& node) noexcept {
    const auto wait = detail::Ref<PromiseWait>::adopt(&static_cast<PromiseWait&>(node));
    auto end = [&] {
      if (!wait->end(EndedBy::settler)) wait->promise_.reset();
    };
    detail::invoke_and_report(end, ErrorOrigin::microtask);
  }
  static constexpr detail::LoopNodeOps table{detail::LoopNodeKind::microtask, nullptr, &settle};

  /// False: it had ended before.
  bool end(EndedBy by) {
    // relaxed: what the one that wins reads was written before both knew the wait (I2).
    if (is_over_.exchange(true, detail::sync::relaxed)) return false;
    ended_by_ = by;
    const auto executor = net::get_associated_executor(*handler_);
    post_in_room(executor, room_, End(*this));
    return true;
  }

  void call() {
    auto slot = net::get_associated_cancellation_slot(*handler_);
    if (slot.is_connected()) slot.clear();
    if (ended_by_ == EndedBy::slot) return fail(aborted_exception());
    auto& state = detail::Access::state(*promise_);
    if (state.status() == PromiseStatus::rejected) return fail(exception_of(state));
    if constexpr (std::is_void_v<T>) {
      tell({});
    } else {
      pass_value(state);
    }
  }
  void fail(std::exception_ptr error) {
    if constexpr (std::is_void_v<T>) {
      tell(std::move(error));
    } else {
      tell(std::move(error), T());
    }
  }
  void pass_value(detail::PromiseState<T>& state) {
    std::optional<T> value;
    std::exception_ptr error;
    try {
      value.emplace(detail::value_to_keep(state));
    } catch (...) {
      error = std::current_exception();
    }
    if (error) return fail(std::move(error));
    tell({}, *std::move(value));
  }
  template <class... Values>
  void tell(std::exception_ptr error, Values&&... values) {
    Handler& handler = *handler_;
    std::move(handler)(std::move(error), std::forward<Values>(values)...);
  }
  void drop_handler() noexcept {
    handler_.reset();
    work_.reset();
  }

  detail::RefCount shares_{1};
  detail::sync::atomic<bool> is_over_{false};
  EndedBy ended_by_{};
  std::optional<Work> work_;  ///< what keeps the executor's context busy
  std::optional<Handler> handler_;
  std::optional<Promise<T>> promise_;
  WaitRoom room_;
};

}  // namespace HEIST_ASIO_NAMESPACE
