// SignalLeftovers: what the messages of a signal leave a loop or a cluster to clear away.
#pragma once

#include <heist/detail/scheduler_task.hpp>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// The tasks that an abort has claimed, and the references to the signal that its messages held.
///
/// Roles   aborter: the thread that aborts; it chains tasks until it sends its message.  owner: a
///         loop's agent, a cluster's keeper. Once the message has come, everything is the owner's.
struct SignalLeftovers {
  explicit SignalLeftovers(SignalCore& owner) noexcept : signal(&owner) {}

  /// Called by the aborter.
  void append(SignalLinks& of_task) noexcept {
    of_task.chain = last_ != nullptr ? std::exchange(last_->chain, &of_task) : &of_task;
    last_ = &of_task;
  }
  [[nodiscard]] bool has_chain() const noexcept { return last_ != nullptr; }
  [[nodiscard]] SignalLinks* last_of_chain() const noexcept { return last_; }
  /// Takes the chain out. Returns its first task, which was appended first, or null if there is
  /// none.
  [[nodiscard]] SignalLinks* take_chain() noexcept {
    SignalLinks* last = std::exchange(last_, nullptr);
    if (last == nullptr) return nullptr;
    return static_cast<SignalLinks*>(std::exchange(last->chain, nullptr));
  }

  SignalCore* signal;

 private:
  SignalLinks* last_ = nullptr;  ///< of the chain, which is a ring: the first follows the last

 public:
  SignalLeftovers* next = nullptr;  ///< in the list of AbortedTasks
  int references = 0;               ///< how many references to the signal are to be dropped
};

}  // namespace HEIST_NAMESPACE::detail
