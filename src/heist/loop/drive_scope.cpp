#include "drive_scope.hpp"

#include <heist/error.hpp>

#include "../concurrent/rethrown.hpp"

namespace heist {

thread_local constinit LoopCore* loop_of_this_thread = nullptr;

LoopCore* current_loop() noexcept { return loop_of_this_thread; }

DriveScope::DriveScope(LoopCore& loop) : loop_(loop) {
  if (loop.driven_.exchange(true, sync::edge("drive:enter", sync::acquire))) {
    throw NotAllowedError("this event loop is being driven already, here or on another thread");
  }
  loop.outer_loop_ = std::exchange(loop_of_this_thread, &loop);
  outer_rethrown_ = std::exchange(rethrown, &loop.agent_->rethrown);
  loop.activity().say_moves();
}

DriveScope::~DriveScope() {
  Reason forgotten = std::exchange(loop_.agent_->rethrown, {});
  rethrown = nullptr;
  loop_.activity().say_rests();
  loop_of_this_thread = loop_.outer_loop_;
  loop_.driven_.store(false, sync::edge("drive:leave", sync::release));
  forget(forgotten);  // its destructor may use the loop
  rethrown = outer_rethrown_;
}

}  // namespace heist
