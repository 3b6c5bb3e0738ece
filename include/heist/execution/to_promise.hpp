// to_promise: starts a sender, and gives a Promise of how it completes.
#pragma once

#include <exception>
#include <heist/detail/access.hpp>
#include <heist/detail/in_place_task.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/promise_state.hpp>
#include <heist/detail/ref.hpp>
#include <heist/execution/library.hpp>
#include <heist/execution/quiet_stop_token.hpp>
#include <heist/execution/sender_values.hpp>
#include <heist/execution/task_scheduler.hpp>
#include <heist/promise.hpp>
#include <heist/scheduler.hpp>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

namespace HEIST_NAMESPACE::execution {

/// The environment of senders that were given to to_promise(), or that a coroutine awaits: the
/// scheduler that they start on, and that they may be stopped, as by a hop to a closed loop.
struct SchedulerEnv {
  TaskScheduler scheduler;  ///< where the senders start
  [[nodiscard]] TaskScheduler query(ex::get_scheduler_t /*query*/) const noexcept {
    return scheduler;
  }
  [[nodiscard]] static QuietStopToken query(exq::get_stop_token_t /*query*/) noexcept { return {}; }
#if !defined(HEIST_EXECUTION_OLD_NAMES)
  [[nodiscard]] TaskScheduler query(ex::get_start_scheduler_t /*query*/) const noexcept {
    return scheduler;
  }
#endif
};

/// A sender that runs for a promise, in a node of its own. It destroys itself before the promise
/// settles.
template <class Sender>
class SenderRun final : private detail::SchedulerTask {
 public:
  using Value = SenderValue<Sender, SchedulerEnv>;
  using State = detail::PromiseState<Value>;

  SenderRun(Sender&& sender, const Scheduler& on, detail::Ref<State> state)
      : SchedulerTask(table, false),
        on_(on),
        state_(std::move(state)),
        operation_(ex::connect(std::forward<Sender>(sender), Settling{this})) {
    scheduler = detail::Access::core(on_);
  }

  /// Starts it in a task of its scheduler.
  void post() noexcept {
    if (!detail::post_in_place(*this)) reject(detail::loop_closed_reason(), true);
  }
  /// Starts it here.
  void start() noexcept { ex::start(operation_); }

 private:
  struct Settling {
    using receiver_concept = ReceiverTag;
    SenderRun* run;

    template <class... Values>
    void set_value(Values&&... values) noexcept {
      run->resolve(std::forward<Values>(values)...);
    }
    template <class Error>
    void set_error(Error&& error) noexcept {
      run->reject(reason_of(std::forward<Error>(error)), false);
    }
    void set_stopped() noexcept { run->reject(stopped_reason(), true); }
    [[nodiscard]] SchedulerEnv get_env() const noexcept { return {as_scheduler(run->on_)}; }
  };

  static SenderRun& of(detail::LoopNode& node) noexcept {
    return static_cast<SenderRun&>(static_cast<detail::SchedulerTask&>(node));
  }
  static void run(detail::LoopNode& node, detail::LoopCore& /*loop*/) noexcept { of(node).start(); }
  static void drop(detail::LoopNode& node) noexcept {
    of(node).reject(detail::close_abort_reason(), true);
  }
  static constexpr detail::LoopNodeOps table{detail::LoopNodeKind::task, &run, &drop};

  template <class Error>
  static Reason reason_of(Error&& error) noexcept {
    using Plain = std::remove_cvref_t<Error>;
    try {
      if constexpr (std::is_same_v<Plain, std::exception_ptr>) {
        return Reason::of(std::forward<Error>(error));
      } else if constexpr (std::is_same_v<Plain, std::error_code>) {
        return Reason(std::system_error(error));
      } else {
        return Reason(std::forward<Error>(error));
      }
    } catch (...) {
      return Reason::of_current_exception();
    }
  }
  static Reason stopped_reason() noexcept {
    try {
      return Reason::of_abort();
    } catch (...) {
      return Reason::out_of_memory();
    }
  }

  template <class... Values>
  void resolve(Values&&... values) noexcept {
    try {
      if constexpr (std::is_reference_v<Value>) {
        state_->emplace(std::addressof(values)...);
      } else {
        state_->emplace(std::forward<Values>(values)...);
      }
    } catch (...) {
      return reject(Reason::of_current_exception(), false);
    }
    end()->settle_fulfilled();
  }
  void reject(Reason reason, bool by_abort) noexcept {
    end()->settle_rejected(std::move(reason), by_abort);
  }
  [[nodiscard]] detail::Ref<State> end() noexcept {
    const detail::Ref<State> state = std::move(state_);
    detail::destroy_node(*this);
    return state;
  }

  Scheduler on_;
  detail::Ref<State> state_;
  ex::connect_result_t<Sender, Settling> operation_;
};

/// The promise of how this sender completes.
template <class Sender>
using PromiseOfSender = Promise<typename SenderRun<Sender>::Value>;

/// A run of the sender, and the promise of its completion.
template <class Sender>
struct StartedSender {
  explicit StartedSender(Sender&& sender, const Scheduler& scheduler)
      : StartedSender(std::forward<Sender>(sender), scheduler,
                      detail::make_node<detail::StandaloneState<typename Run::Value>>(1U)) {}

  using Run = SenderRun<Sender>;
  using State = typename Run::State;
  PromiseOfSender<Sender> promise;
  Run* run;

 private:
  StartedSender(Sender&& sender, const Scheduler& scheduler, State* state)
      : promise(detail::Access::make<PromiseOfSender<Sender>>(detail::Ref<State>::adopt(state))),
        run(detail::make_node<Run>(std::forward<Sender>(sender), scheduler,
                                   detail::Ref<State>::share(state))) {}
};

/// Starts the sender in a task of the scheduler, user-visible, and gives a promise of what it
/// completes with: its value, a std::tuple of several, or nothing. An error rejects the promise,
/// `std::error_code` as std::system_error; `set_stopped` rejects it with AbortError. The sender's
/// environment has the scheduler (`get_scheduler`).
///
/// Thread: any.   Blocks: never.   Cost: two allocations, from a recycled pool.
/// Errors: std::bad_alloc, std::invalid_argument for a scheduler that was moved from, and what
///         connecting throws. On a closed loop, or when a close drops the task, the promise is
///         rejected as that of post_task().   Spec: contract SND-7.
template <class Sender>
[[nodiscard]] PromiseOfSender<Sender> to_promise(const Scheduler& scheduler, Sender&& sender) {
  detail::Access::check_valid(scheduler, "to_promise");
  StartedSender<Sender> started(std::forward<Sender>(sender), scheduler);
  started.run->post();
  return std::move(started.promise);
}

}  // namespace HEIST_NAMESPACE::execution
