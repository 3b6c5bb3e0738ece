// LentLock: how those who wait for a lock lend their priority to the coroutine that holds it.
#pragma once

#include <heist/detail/export.hpp>
#include <heist/detail/forward.hpp>
#include <heist/detail/kept_state.hpp>
#include <heist/detail/ref.hpp>
#include <heist/priority.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// One call that locks: what it lends while it waits, and what is lent to its coroutine while it
/// holds the lock. It is in the coroutine's frame, or in a node of the lock's.
///
/// Thread: one at a time: the coroutine's until it waits, then that of whoever has ended the wait.
class HEIST_EXPORT Lender {
 public:
  Lender() noexcept = default;
  Lender(Lender&&) noexcept = default;
  Lender& operator=(Lender&&) noexcept = default;
  ~Lender() = default;

  /// Called by a coroutine that is about to lock: from here on its continuations follow what is
  /// lent to it. `kept` is that of the coroutine; null for a coroutine of another library, to which
  /// nothing can be lent. The same holds when memory has run out, outside of tasks, and for a fixed
  /// priority that is the highest one.
  void enter(KeptState* kept) noexcept;
  /// Called by the coroutine when it goes on without the lock: its continuations follow the
  /// coroutine's own priority again, unless it holds another lock.
  void leave() noexcept;

  /// Called before the caller waits: lends to whoever `target` stands for.
  void lend_to(LentPriority& target) noexcept;
  /// Called when the wait has ended: takes back what lend_to() has lent. Does nothing otherwise.
  void take_back_from(LentPriority& target) noexcept;

 private:
  friend class LentLock;

  Ref<LentPriority> lent_;
  TaskPriority level_ = TaskPriority::background;  ///< when the call was made
  bool waits_ = false;
  bool is_linked_ = false;  ///< what it lends follows its priority
};

/// A lock's part in lending. The priority of those who wait is lent to the coroutine that holds the
/// lock, and by that one, if it waits for another lock itself, to the holder of that lock.
///
/// Spec:   contract LND-1 to LND-6.
/// Thread: wait() and stop_waiting() any; hold() and let_go() whoever owns the lock at this time.
/// Blocks: never.   Cost: O(1), and for each lock of a chain whose level changes.
class HEIST_EXPORT LentLock {
 public:
  /// Errors: std::bad_alloc.
  LentLock();
  LentLock(const LentLock&) = delete;
  LentLock& operator=(const LentLock&) = delete;
  /// Precondition: nobody waits.
  ~LentLock();

  /// Called before the caller is put into the list of those who wait.
  void wait(Lender& lender) noexcept;
  /// Called by whoever has taken it out of that list, whether it gets the lock or not.
  void stop_waiting(Lender& lender) noexcept;
  /// Called when the lock is given to a caller, which may run already on another thread afterwards.
  void hold(const Lender& lender) noexcept;
  /// Called before the lock is given away or becomes free. If that is in the coroutine that held
  /// it, its continuations follow its own priority again, unless it holds another lock.
  void let_go() noexcept;

 private:
  Ref<LentPriority> lent_;
};

}  // namespace HEIST_NAMESPACE::detail
