// AbortedTasks: tasks that were aborted before they started, until they are cleared away.
#pragma once

#include <cstdint>
#include <heist/detail/scheduler_task.hpp>

#include "../concurrent/inbox.hpp"
#include "signal_leftovers.hpp"
#include "task_queues.hpp"

namespace HEIST_NAMESPACE::detail {

/// Holds what a loop or a cluster still has to clear away after aborts (ABT-4), a portion at each
/// pick: messages that name aborted tasks, these tasks, and the references to signals that came
/// with messages.
///
/// Roles   owner: a loop's agent, a cluster's keeper. It makes every call. A keeper only collects:
///         it passes everything that runs users' destructors to agents (pass_chain_to,
///         pass_rest_to).
/// I1      A stealable task that was aborted before it started stands in a chain, at the keeper or
///         at an agent. Besides, it may stand in a queue, or among the discarded ones of an agent.
///         Whoever comes to it first, in either place, destroys its callback. So what an agent has
///         discarded may wait while that agent runs a task: only memory waits with it. But an agent
///         that starts a task has nothing of a keeper's chain left, as the task may be long.
class AbortedTasks {
 public:
  /// Whether no task is left, and no message.   Cost: one branch; each pick asks.
  [[nodiscard]] bool empty() const noexcept {
    return discarded_.empty() & (chain_ == nullptr) & !may_have_messages_;
  }
  [[nodiscard]] bool has_tasks() const noexcept { return chain_ != nullptr || !discarded_.empty(); }
  [[nodiscard]] bool has_released() const noexcept { return released_ != nullptr; }

  // Messages of aborts. However many there are, each pick looks at only some of them.

  /// Notes that a message has come to the inbox of aborts, which was empty.
  void note_messages() noexcept { may_have_messages_ = true; }
  [[nodiscard]] bool may_have_messages() const noexcept { return may_have_messages_; }
  /// Looks at `most` messages. When there are no more, the next one to come tells the owner again.
  void take_messages(Inbox& from, TaskHome& home, unsigned most) noexcept;
  /// Takes all messages, and refuses more.
  void close_messages(Inbox& from, TaskHome& home) noexcept;

  // Tasks.

  /// Takes the chain of tasks of a signal that was aborted.
  void append_chain(SignalLeftovers& from) noexcept;
  /// Keeps an aborted task that arrived, or came up for a pick, until it is cleared away. It cannot
  /// go at once, because its callback may run users' destructors then.
  void discard(SchedulerTask& task) noexcept {
    task.place = TaskPlace::discarded;
    discarded_.push_back(task);
  }
  /// Does the same for a stealable task that an agent has picked. It leaves `place` alone, which
  /// only the keeper may write.
  void discard_stealable(SchedulerTask& task) noexcept { discarded_.push_back(task); }
  [[nodiscard]] SignalLinks* first_of_chain() const noexcept { return chain_; }
  [[nodiscard]] SignalLinks* last_of_chain() const noexcept { return chain_tail_; }
  /// Called by an agent: clears away a portion of the tasks, and looks at a portion of the
  /// messages. It runs users' destructors.
  void reap_some(Inbox& messages, TaskHome& home) noexcept;
  /// Called by an agent: clears away all tasks, and looks at no messages.
  void reap_all() noexcept;

  // Signals.

  /// Drops a message's reference to its signal later, because that may run users' code.
  void release_later(SignalLeftovers& of) noexcept;
  /// Called by an agent: drops these references. It runs users' destructors.
  void release_signals() noexcept;

  // What a keeper calls.

  /// The last task of the portion of the chain that reap_some() certainly clears away if it stands
  /// in front. It does not lie behind `last`.
  [[nodiscard]] SignalLinks* last_of_portion(SignalLinks* last) const noexcept;
  /// Passes the chain, up to `last`, to an agent, in front of what that has.
  void pass_chain_to(AbortedTasks& to, SignalLinks& last) noexcept;
  /// Passes all that is in no chain and runs users' code.
  void pass_rest_to(AbortedTasks& to) noexcept;

 private:
  /// What became of an aborted task: nothing was left to do, only its memory was left, or its
  /// callback was destroyed.
  enum class Reaped : std::uint8_t { none, memory, callback };

  [[nodiscard]] Reaped reap_one() noexcept;
  [[nodiscard]] Reaped reap_discarded() noexcept;

  LoopNode* messages_ = nullptr;  ///< taken from the inbox, to be looked at in portions
  bool may_have_messages_ = false;
  SignalLinks* chain_ = nullptr;
  SignalLinks* chain_tail_ = nullptr;
  TaskFifo discarded_;
  SignalLeftovers* released_ = nullptr;  ///< signals of which references are to be dropped
};

}  // namespace HEIST_NAMESPACE::detail
