// Drops: what a thread is about to drop, so that whoever waits within one of the drops finds the
// rest.
#pragma once

#include <heist/detail/loop_node.hpp>

#include "../loop/microtask_queue.hpp"

namespace HEIST_NAMESPACE::detail {

/// Tasks and reactions of a home that closes, oldest first. What is dropped runs users'
/// destructors, which may wait for what stands behind: then that goes first.
///
/// Thread: one; scopes nest.
class Drops {
 public:
  Drops() noexcept;
  Drops(const Drops&) = delete;
  Drops& operator=(const Drops&) = delete;

  void add(LoopNode& node) noexcept { nodes_.push(node); }
  void drop() noexcept;

  /// Within whatever the calling thread drops: the rest of it goes now, as on a thread of no loop
  /// (microtasks would wait for the end of what waits).
  static void drop_behind() noexcept;
  /// The same within a DrivePause.
  static void drop_all() noexcept;

 protected:
  ~Drops();

 private:
  /// Adds what has come since, if this object has to drop it.
  virtual void add_found() noexcept = 0;

  static thread_local constinit Drops* innermost;

  Drops* outer_;
  MicrotaskQueue nodes_;
};

}  // namespace HEIST_NAMESPACE::detail
