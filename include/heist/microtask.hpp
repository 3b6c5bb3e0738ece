// queue_microtask: work for the running agent's next microtask checkpoint.
#pragma once

#include <concepts>
#include <functional>
#include <heist/error.hpp>
#include <heist/detail/misuse.hpp>
#include <heist/promise_handle.hpp>
#include <type_traits>
#include <utility>

namespace heist {

/// Binds a reaction to the running agent and queues it.   Errors: NotAllowedError off an agent.
void enqueue_microtask(Reaction& reaction);

/// A callable as a microtask.
template <class Callback>
class CallbackMicrotask final : public Reaction {
 public:
  template <class F>
  explicit CallbackMicrotask(F&& callback)
      : Reaction(table), callback_(std::forward<F>(callback)) {}

 private:
  static CallbackMicrotask& of(LoopNode& node) noexcept {
    return static_cast<CallbackMicrotask&>(static_cast<Reaction&>(node));
  }
  static void run(LoopNode& node, LoopCore& /*loop*/) noexcept {
    invoke_and_report(of(node).callback_, ErrorOrigin::microtask);
    destroy_node(of(node));
  }
  static void drop(LoopNode& node) noexcept { destroy_node(of(node)); }
  static constexpr LoopNodeOps table{LoopNodeKind::microtask, &run, &drop};

  Callback callback_;
};

/// Runs `callback()` at the running agent's next microtask checkpoint, with the current scheduling
/// state. Exceptions go to the error hook.
///
/// Spec:   [html#microtask-queuing].   Thread: an agent.   Blocks: never.   Cost: one allocation.
/// Errors: NotAllowedError off an agent; std::bad_alloc; std::invalid_argument for a callback that
///         is null or empty.
template <class Callback>
  requires std::invocable<std::decay_t<Callback>&>
void queue_microtask(Callback&& callback) {
  static_assert(!is_promise<std::invoke_result_t<std::decay_t<Callback>&>>,
                "a coroutine outlives the callback that queue_microtask destroys: call it instead");
  check_callback(callback, "queue_microtask");
  auto* microtask =
      make_node<CallbackMicrotask<std::decay_t<Callback>>>(std::forward<Callback>(callback));
  try {
    enqueue_microtask(*microtask);
  } catch (...) {
    destroy_node(*microtask);
    throw;
  }
}

}  // namespace heist
