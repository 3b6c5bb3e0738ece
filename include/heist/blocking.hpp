// blocking: a task waits in a system call, and its cluster goes on with all of its parallelism.
#pragma once

#include <concepts>
#include <functional>
#include <heist/detail/misuse.hpp>
#include <utility>

namespace heist {

class Member;

/// For blocking(): the part of a task in which its thread is lost to its cluster.
class BlockingScope {
 public:
  BlockingScope() noexcept;
  BlockingScope(const BlockingScope&) = delete;
  BlockingScope& operator=(const BlockingScope&) = delete;
  ~BlockingScope();

 private:
  Member* member_;  ///< null: nothing to be given back
};

/// Calls `f` here, on this thread: around a system call, a lock or a library that blocks. Meanwhile
/// an extra thread of the cluster runs stealable tasks in place of this agent. What is bound to
/// this agent waits.
///
/// Within another blocking() it is a call, as it is on threads of no cluster, in a cluster of one
/// agent (whose tasks are bound to it, in exact order), and once there are as many extra threads as
/// AgentClusterOptions::reserves says, or the system has none to give.
///
/// Thread: any.   Blocks: as `f` does, and while a thread is made, if one is needed.   Errors: what
///         `f` throws.
/// Cost: two read-modify-writes; a wake-up if one more agent of the cluster is to get up.
template <std::invocable F>
decltype(auto) blocking(F&& f) {
  check_callback(f, "blocking");
  const BlockingScope scope;
  return std::invoke(std::forward<F>(f));
}

}  // namespace heist
