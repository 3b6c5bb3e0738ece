// SignalLeftovers: what the messages of a signal leave a loop or a cluster to clear away.
#pragma once

#include <heist/detail/scheduler_task.hpp>

namespace HEIST_NAMESPACE::detail {

/// The tasks that an abort has claimed, and the references to the signal that its messages held.
///
/// Roles   aborter: chains tasks until it sends its message.  owner: a loop's agent, a cluster's
///         keeper; has all of it once the message has come.
struct SignalLeftovers {
  explicit SignalLeftovers(SignalCore& owner) noexcept : signal(&owner) {}

  /// Called by the aborter.
  void append(ControlledTask& task) noexcept {
    if (head == nullptr) {
      head = &task;
    } else {
      tail->chain = &task;
    }
    tail = &task;
  }

  SignalCore* signal;
  ControlledTask* head = nullptr;
  ControlledTask* tail = nullptr;
  SignalLeftovers* next = nullptr;  ///< in AbortedTasks
  int references = 0;               ///< to the signal, which are to be dropped
};

}  // namespace HEIST_NAMESPACE::detail
