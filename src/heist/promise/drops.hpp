// Drops: what a thread is about to drop. If one of the drops waits for something, it finds the rest
// here.
#pragma once

#include <heist/detail/loop_node.hpp>

#include "../loop/microtask_queue.hpp"

namespace HEIST_NAMESPACE::detail {

/// Tasks and reactions of a home that closes, oldest first. A drop runs users' destructors, which
/// may wait for something that stands further behind. Then the rest is dropped first.
///
/// Thread: one; scopes nest.
class Drops {
 public:
  Drops() noexcept;
  Drops(const Drops&) = delete;
  Drops& operator=(const Drops&) = delete;

  void add(LoopNode& node) noexcept { nodes_.push(node); }
  void drop() noexcept;

  /// Called before a wait. If the calling thread is dropping something, this drops the rest of it
  /// now, as on a thread without a loop. On a loop the reactions would be microtasks, and would
  /// wait for the end of the code that waits here.
  static void drop_behind() noexcept;
  /// Does the same for a caller that is in a DrivePause.
  static void drop_all() noexcept;

 protected:
  ~Drops();

 private:
  /// Adds what has come since, if this object has to drop that too.
  virtual void add_found() noexcept = 0;

  static thread_local constinit Drops* innermost;

  Drops* outer_;
  MicrotaskQueue nodes_;
};

}  // namespace HEIST_NAMESPACE::detail
