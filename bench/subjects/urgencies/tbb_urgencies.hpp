// oneTBB: an arena with priority high and one with priority low, between which the same two workers
// move. The reference of task_arena: when workers are few, arenas of a higher priority get them
// first.
#pragma once

#include <oneapi/tbb/task_arena.h>

#include <utility>

#include "../tbb.hpp"

namespace bench {

/// Successors are enqueued, too: tasks in a worker's own deque would keep it in the arena.
class TbbUrgencies : TbbWorkers {
 public:
  static constexpr const char* name = "tbb_priority_arenas";
  /// Otherwise the first task would make the arena.
  TbbUrgencies() { urgent_.initialize(); }
  template <class F>
  void post_urgent(F&& f) {
    urgent_.enqueue(std::forward<F>(f));
  }
  template <class F>
  void post_background(F&& f) {
    background_.enqueue(std::forward<F>(f));
  }

 private:
  tbb::task_arena urgent_{2, 0, tbb::task_arena::priority::high};
  tbb::task_arena background_{2, 0, tbb::task_arena::priority::low};
};

}  // namespace bench
