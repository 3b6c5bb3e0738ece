// PostBound: the places of a bounded scheduler, and the line of those who wait for one.
#pragma once

#include <cstdint>
#include <heist/bounded_scheduler.hpp>
#include <heist/detail/sync.hpp>

#include "waiting_line.hpp"

namespace HEIST_NAMESPACE::detail {

// Roles   taker: any thread.  waiter: any thread, in the line.  leaver: whoever has a place.
//         server: one waiter or leaver at a time; it gives places to those in the line.
// States  free_: the number of free places less the number of waiters. Its sign says which of the
//         two there are. owed_: how many places were taken for the line, but not given to anyone in
//         it yet.
// I1      A waiter joins the line before it counts itself. So whoever counts a place as owed finds
//         a waiter in the line: there are never more owed places than waiters.
// I2      If the server does not see a request before it ends, the author of the request becomes
//         the server.
// Edge room: owe -> give. Carries the waiter of I1, for a server that gives a place which another
//         thread has counted as owed.
// Edge room: serve -> serve, seen. One server follows another. A thread that leaves the work to
//         another server has joined, or owed, before.
// Edge room: join -> leave. A leaver that sees that someone waits finds a waiter in the line.
// Edge room: leave -> take, join. What was done with a place is over before the place is taken
//         again.
// Lifetime  Every taken place, and so everybody in the line, holds a share. So nobody waits when it
//         is destroyed.
// Progress  taking and leaving are lock-free; a frozen server delays those who wait.
// Proof   stress/model/models/limits.cpp, stress/limits_stress.cpp.
class PostBound {
 public:
  /// Errors: std::bad_alloc.
  explicit PostBound(std::int64_t places) : free_(places) {}

  [[nodiscard]] bool try_take() noexcept {
    std::int64_t free = free_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    while (free > 0) {
      if (free_.compare_exchange_weak(free, free - 1, sync::edge("room:take", sync::acquire),
                                      sync::relaxed)) {  // relaxed: a failure only retries.
        return true;
      }
    }
    return false;
  }
  /// Gives a place back.
  void leave() noexcept {
    if (free_.fetch_add(1, sync::edge("room:leave", sync::acq_rel)) < 0) owe();
  }
  /// Gives a place as soon as there is one.   Errors: std::bad_alloc.
  [[nodiscard]] Promise<Room> wait();

  friend void retain(PostBound& bound) noexcept;
  friend void release(PostBound& bound) noexcept;

 private:
  void join(Resolver<Room> resolver);
  void owe() noexcept;
  void serve() noexcept;
  void serve_some() noexcept;

  RefCount shares_{1};
  sync::atomic<std::int64_t> free_;
  sync::atomic<std::int64_t> owed_{0};
  sync::atomic<std::uint32_t> requests_{0};
  WaitingLine line_;
};

}  // namespace HEIST_NAMESPACE::detail
