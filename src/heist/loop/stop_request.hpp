// StopRequest: how any thread asks the agent of a loop to stop running it.
#pragma once

#include <heist/detail/loop_node.hpp>
#include <heist/detail/sync.hpp>

namespace HEIST_NAMESPACE::detail {

class LoopCore;

/// A request wakes the agent, which heeds it between two tasks. Requests that come before the agent
/// has heeded one count as that one.
///
/// Roles   closer: any thread that asks.  agent: the loop's.
/// I1      The message is in the inbox at most once: it belongs to whoever set is_sent_.
/// Edge stop: take -> send. The message is free to be sent again.
/// Edge stop: send -> take. Carries what a closer asked for before it woke the agent.
/// Progress  wait-free but for the post of the message, which is lock-free.
/// Proof   stress/model: stop_wakes_the_loop
class StopRequest {
 public:
  explicit StopRequest(LoopCore& loop) noexcept : loop_(loop), message_(*this) {}
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  // What any thread may call.

  void send() noexcept;
  [[nodiscard]] bool is_sent() const noexcept {
    return is_sent_.load(sync::relaxed);  // relaxed: a later request may be seen later.
  }

  // What only the agent calls.

  /// Whether the agent is to stop before its next task.
  [[nodiscard]] bool is_due() const noexcept { return is_due_; }
  /// Whether the message of a request has come, and end() was not called since.
  [[nodiscard]] bool has_come() const noexcept { return is_message_here_; }
  /// Stops the agent before its next task, without a message.
  void heed() noexcept { is_due_ = true; }
  /// Ends a stop that has been heeded. The next request counts anew.
  void end() noexcept {
    is_due_ = false;
    if (is_message_here_) [[unlikely]]
      free_message();
  }

 private:
  struct Message : LoopNode {
    explicit Message(StopRequest& to) noexcept : LoopNode(table), request(to) {}
    StopRequest& request;
    static void take(LoopNode& node, TaskHome& home) noexcept;
    static void ignore(LoopNode& /*node*/) noexcept {}
    static const MessageOps table;
  };

  void free_message() noexcept;

  LoopCore& loop_;
  sync::atomic<bool> is_sent_{false};
  Message message_;

  // The agent's.
  bool is_due_ = false;
  bool is_message_here_ = false;  ///< it was taken, and may not be sent again yet
};

}  // namespace HEIST_NAMESPACE::detail
