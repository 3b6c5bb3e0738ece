// Heist's cooperative scheduler on an event loop of the calling thread, with its steady clock.
#pragma once

#include <heist/cooperative_scheduler.hpp>
#include <heist/event_loop.hpp>
#include <utility>

namespace bench {

class HeistCooperative {
 public:
  static constexpr const char* name = "heist";
  using Level = heist::CooperativePriority;
  using Handle = heist::CooperativeTask;
  using Milliseconds = heist::Milliseconds;
  /// What a callback returns to go on.
  using Next = heist::CooperativeCallback;

  /// Runs f in a task of the loop, then whatever is ready.
  template <class F>
  void run(F&& f) {
    loop_.scheduler().post(std::forward<F>(f));
    loop_.run_until_idle();
  }

  // In a task.

  template <class F>
  Handle schedule(Level level, F&& f, Milliseconds delay = {}) {
    return scheduler_.schedule_callback(level, std::forward<F>(f), {.delay = delay});
  }
  void cancel(const Handle& task) { scheduler_.cancel_callback(task); }
  [[nodiscard]] bool should_yield() const { return scheduler_.should_yield(); }

 private:
  heist::EventLoop loop_;
  heist::CooperativeScheduler scheduler_{loop_.scheduler()};
};

}  // namespace bench
