// The reason in flight: an exception that is caught again stands for the reason that threw it.
#pragma once

#include <heist/reason.hpp>

namespace heist {

// So `await`, `get` and throw_if_aborted() keep the identity of a reason through a callback or a coroutine
// (Reason::of), and an exception has one box for all who share it: libstdc++ counts the holders of an
// exception where ThreadSanitizer does not see it, boxes count where it does.

/// Whether reasons that are rethrown on this thread are remembered: while it drives a loop, which ends
/// with forget_rethrown(), as does each time before it sleeps. So at most one outlives its holders.
extern thread_local constinit bool remembers_rethrown;
/// The last one; owned. Null: none.
extern thread_local constinit Reason::Box* rethrown;

void forget_rethrown() noexcept;

}  // namespace heist
