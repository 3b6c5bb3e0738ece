// PostBound: the places of a bounded scheduler, and the posters that wait for one.
#pragma once

#include <cstdint>
#include <heist/bounded_scheduler.hpp>
#include <heist/detail/sync.hpp>

#include "waiting_line.hpp"

namespace HEIST_NAMESPACE::detail {

// Roles   taker: any thread.  waiter: any thread, in the line.  leaver: whoever has a place.
//         server: a waiter or leaver, one at a time, that gives places to those in the line.
// States  free_: places that are free, less those who wait. Its sign says which of the two there
//         are. owed_: places that have been taken for the line, and not been given to anyone in it
//         yet.
// I1      A waiter joins the line before it counts, so that whoever counts a place as owed finds
//         one in the line: there are never more places owed than wait.
// I2      A request that the server has not seen when it ends makes its author the server.
// Edge room: owe -> give. The same, for whom another thread gives it to.
// Edge room: serve -> serve, seen. One server after another; whoever leaves it to another one has
//         joined, or owed, before.
// Edge room: join -> leave. Whoever sees that someone waits finds one in the line.
// Edge room: leave -> take, join. What was done with a place is over.
// Lifetime  every place taken, and so everybody in the line, holds a share: nobody waits when it
//         ends.
// Progress  taking and leaving are lock-free; a frozen server delays whoever waits.
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
  /// Gives a place once there is one.   Errors: std::bad_alloc.
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
