#include "drive_scope.hpp"

#include <heist/error.hpp>

#include "../concurrent/rethrown.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

constinit const UrgentLook never_holds;

}  // namespace

thread_local constinit LoopCore* loop_of_this_thread = nullptr;
constinit thread_local const UrgentLook* urgent_look = &never_holds;

LoopCore* current_loop() noexcept { return loop_of_this_thread; }

TaskHome* driven_home() noexcept { return loop_of_this_thread; }

DriveScope::DriveScope(LoopCore& loop) : loop_(loop) {
  if (loop.driven_.exchange(true, sync::edge("drive:enter", sync::acquire))) {
    throw NotAllowedError("this event loop is being driven already, here or on another thread");
  }
  loop.outer_loop_ = std::exchange(loop_of_this_thread, &loop);
  outer_look_ = std::exchange(urgent_look, &loop.agent_->look);
  outer_rethrown_ = std::exchange(rethrown, &loop.agent_->rethrown);
  loop.counts().activity().say_moves();
}

DriveScope::~DriveScope() {
  Reason forgotten = std::exchange(loop_.agent_->rethrown, {});
  rethrown = nullptr;
  urgent_look = outer_look_;
  loop_.counts().activity().say_rests();
  loop_of_this_thread = loop_.outer_loop_;
  loop_.driven_.store(false, sync::edge("drive:leave", sync::release));
  forget(forgotten);  // its destructor may use the loop
  rethrown = outer_rethrown_;
}

void lose_agent(void* home) noexcept {
  LoopCore& lost = *static_cast<TaskHome*>(home)->as_loop();
  lost.refuse_tasks();
  if (drives_here(&lost)) lost.stop_request().send();
}

}  // namespace HEIST_NAMESPACE::detail
