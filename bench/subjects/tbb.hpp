// oneTBB: arenas whose slots are all for workers (none is reserved), as the caller never joins.
#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <utility>

namespace bench {

/// Lets oneTBB have two workers, also on two cores: the limit counts the thread that made the
/// arenas. Otherwise one worker would go to and fro between the two arenas of a ping-pong.
struct TbbWorkers {
  tbb::global_control workers{tbb::global_control::max_allowed_parallelism, 3};
};

/// enqueue(): the documented way in for tasks that nobody waits for; first in, first out.
template <int slots>
class TbbArena : TbbWorkers {
 public:
  static constexpr const char* name = "tbb_enqueue";
  template <class F>
  void post(F&& f) {
    arena_.enqueue(std::forward<F>(f));
  }

 private:
  tbb::task_arena arena_{slots, 0};
};
using TbbSubject = TbbArena<1>;

/// A task_group: run() puts tasks into the worker's own deque, so it is for posts from inside; from
/// outside a deferred task is enqueued, as the reference of task_group::defer shows.
class TbbTaskGroupSubject : TbbWorkers {
 public:
  static constexpr const char* name = "tbb_task_group";
  ~TbbTaskGroupSubject() {
    arena_.execute([this] { group_.wait(); });
  }
  template <class F>
  void post(F&& f) {
    arena_.enqueue(group_.defer(std::forward<F>(f)));
  }
  template <class F>
  void post_inside(F&& f) {
    group_.run(std::forward<F>(f));
  }
  [[nodiscard]] tbb::task_group& group() noexcept { return group_; }

 private:
  tbb::task_arena arena_{1, 0};
  tbb::task_group group_;
};

/// Three arenas with the three priorities, as the developer guide lays out for tasks of different
/// urgency. What is measured goes to the normal one.
class TbbPrioritySubject : TbbWorkers {
 public:
  static constexpr const char* name = "tbb_priority_arenas";
  TbbPrioritySubject() {
    urgent_.initialize();
    background_.initialize();
  }
  template <class F>
  void post(F&& f) {
    normal_.enqueue(std::forward<F>(f));
  }

 private:
  tbb::task_arena urgent_{1, 0, tbb::task_arena::priority::high};
  tbb::task_arena normal_{1, 0, tbb::task_arena::priority::normal};
  tbb::task_arena background_{1, 0, tbb::task_arena::priority::low};
};

}  // namespace bench
