#include "drive_scope.hpp"

#include <heist/error.hpp>

#include "../concurrent/rethrown.hpp"
#include "../os/word_wait.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

constinit const UrgentLook never_holds;

}  // namespace

thread_local constinit LoopCore* loop_of_this_thread = nullptr;
constinit thread_local const UrgentLook* urgent_look = &never_holds;

LoopCore* current_loop() noexcept { return loop_of_this_thread; }

TaskHome* driven_home() noexcept { return loop_of_this_thread; }

Ref<TaskHome> keep_while_posting(TaskHome& home) noexcept {
  const LoopCore* const here = loop_of_this_thread;
  const bool is_agent = here != nullptr && (here == &home || here->is_member_of(home));
  return is_agent ? Ref<TaskHome>() : Ref<TaskHome>::share(&home);
}

namespace {

// Values of LoopCore::driven_.
constexpr std::uint32_t by_nobody = 0;
constexpr std::uint32_t by_driver = 1;
constexpr std::uint32_t by_the_way = 2;  ///< by one that others wait for

}  // namespace

/// Returns false when the loop is being driven already. A thread that drives it by the way does so
/// only for a moment, so others wait; but this one would wait for itself.
bool LoopCore::try_drive(std::uint32_t how) noexcept {
  std::uint32_t seen = by_nobody;
  // relaxed: a failure says only that the thread has to wait, or to give up.
  while (!driven_.compare_exchange_strong(seen, how, sync::edge("drive:enter", sync::acquire),
                                          sync::relaxed)) {
    if (seen == by_driver || drives_here(this)) return false;
    wait_on_word(driven_, by_the_way, std::nullopt);
    seen = by_nobody;
  }
  return true;
}

DriveScope::DriveScope(LoopCore& loop) : loop_(loop) {
  if (!loop.try_drive(by_driver)) {
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
  loop_.driven_.store(by_nobody, sync::edge("drive:leave", sync::release));
  forget(forgotten);  // its destructor may use the loop
  rethrown = outer_rethrown_;
}

DriveByTheWay::DriveByTheWay(LoopCore& loop) noexcept
    : loop_(loop.try_drive(by_the_way) ? &loop : nullptr) {
  if (loop_ == nullptr) return;
  // The agent's state of a closed loop may be gone, or go now.
  if (loop.is_closed()) {
    std::exchange(loop_, nullptr)->end_driving_by_the_way();
  } else {
    loop.outer_loop_ = std::exchange(loop_of_this_thread, &loop);
  }
}

DriveByTheWay::~DriveByTheWay() {
  if (loop_ == nullptr) return;
  loop_of_this_thread = loop_->outer_loop_;
  loop_->end_driving_by_the_way();
}

void LoopCore::end_driving_by_the_way() noexcept {
  driven_.store(by_nobody, sync::edge("drive:leave", sync::release));
  wake_all_on_word(driven_);
}

bool LoopCore::is_driven() const noexcept {
  return driven_.load(sync::relaxed) != by_nobody;  // relaxed: a hint.
}

void lose_agent(void* home) noexcept {
  LoopCore& lost = *static_cast<TaskHome*>(home)->as_loop();
  lost.refuse_tasks();
  if (drives_here(&lost)) lost.stop_request().send();
}

}  // namespace HEIST_NAMESPACE::detail
