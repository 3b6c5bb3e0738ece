// SignalLeftovers: what the messages of a signal leave a loop or a cluster to clear away.
#pragma once

#include <heist/detail/scheduler_task.hpp>

namespace HEIST_NAMESPACE::detail {

/// The tasks that an abort has claimed, and the references to the signal that its messages held.
///
/// Roles   aborter: the thread that aborts; it chains tasks until it sends its message.  owner: a
///         loop's agent, a cluster's keeper. Once the message has come, everything is the owner's.
struct SignalLeftovers {
  explicit SignalLeftovers(SignalCore& owner) noexcept : signal(&owner) {}

  /// Called by the aborter.
  void append(SignalLinks& of_task) noexcept {
    if (head == nullptr) {
      head = &of_task;
    } else {
      tail->chain = &of_task;
    }
    tail = &of_task;
  }

  SignalCore* signal;
  SignalLinks* head = nullptr;
  SignalLinks* tail = nullptr;
  SignalLeftovers* next = nullptr;  ///< in the list of AbortedTasks
  int references = 0;               ///< how many references to the signal are to be dropped
};

}  // namespace HEIST_NAMESPACE::detail
