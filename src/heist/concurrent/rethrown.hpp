// The reason in flight: an exception that is caught again stands for the reason that threw it.
#pragma once

#include <heist/error.hpp>

namespace HEIST_NAMESPACE::detail {

// So `await`, `get` and throw_if_aborted() keep the identity of a reason through a callback or a
// coroutine (Reason::of). All who share the exception also share one box. That matters because
// libstdc++ counts the holders of an exception where ThreadSanitizer does not see it, while boxes
// count their holders where it does. (An exception_ptr that is kept into another task gets a box of
// its own there.)

/// Where this thread remembers the last reason that it has rethrown: with the loop that it drives,
/// until the running task and its microtasks are done. Null when the thread drives no loop, and so
/// remembers nothing.
extern thread_local constinit Reason* rethrown;

void forget_all(Reason& remembered) noexcept;

/// Runs users' code, because the exception may be destroyed with the reason. What that code throws
/// again is forgotten, too.
inline void forget(Reason& remembered) noexcept {
  if (remembered) [[unlikely]]
    forget_all(remembered);
}

}  // namespace HEIST_NAMESPACE::detail
