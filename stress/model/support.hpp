// What models share.
#pragma once

#include <heist/heist.hpp>

#include "engine/model.hpp"

namespace heist::model {

/// Models know no real time: an execution must go the same way each time.
inline EventLoopOptions on_virtual_clock() {
  EventLoopOptions options;
  options.clock = LoopClock::virtual_time;
  options.spin = {};  // by the real clock
  return options;
}

/// A callback that does nothing.
inline void nothing() noexcept {}
/// A callback with a value.
inline int seven() noexcept { return 7; }

/// A local of a coroutine that counts when it is destroyed. That is when the frame ends.
class CountsItsEnd {
 public:
  explicit CountsItsEnd(int& count) : count_(count) {}
  CountsItsEnd(const CountsItsEnd&) = delete;
  CountsItsEnd& operator=(const CountsItsEnd&) = delete;
  ~CountsItsEnd() { ++count_; }

 private:
  int& count_;
};

/// Runs until idle, as one operation of the table in docs/progress.md.
inline void run(EventLoop& loop) {
  const Operation operation("run");
  loop.run_until_idle();
}

}  // namespace heist::model
