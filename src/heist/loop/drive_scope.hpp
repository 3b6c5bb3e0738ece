// DriveScope: which loops the calling thread is the agent of.
#pragma once

#include <heist/error.hpp>
#include <optional>
#include <utility>

#include "loop_core.hpp"

namespace HEIST_NAMESPACE::detail {

/// Makes the calling thread the loop's agent for a scope. Scopes of different loops nest, as a task
/// of one loop may drive, or destroy, another one.
///
/// Errors: NotAllowedError when this loop is being driven already.
class DriveScope {
 public:
  explicit DriveScope(LoopCore& loop);
  ~DriveScope();
  DriveScope(const DriveScope&) = delete;
  DriveScope& operator=(const DriveScope&) = delete;

 private:
  LoopCore& loop_;
  Reason* outer_rethrown_;
  const UrgentLook* outer_look_;
};

/// Makes the calling thread the loop's agent for a short time, if nobody drives the loop, and the
/// loop is not closed. Others that want to drive it meanwhile wait until that is over, as they
/// cannot know of it. It runs no tasks.
class DriveByTheWay {
 public:
  explicit DriveByTheWay(LoopCore& loop) noexcept;
  ~DriveByTheWay();
  DriveByTheWay(const DriveByTheWay&) = delete;
  DriveByTheWay& operator=(const DriveByTheWay&) = delete;

  [[nodiscard]] bool drives() const noexcept { return loop_ != nullptr; }

 private:
  LoopCore* loop_;  ///< null when it does not drive
};

/// The same as DriveScope, for calls that are also allowed from within a task of the loop.
class DriveScopeUnlessInside {
 public:
  explicit DriveScopeUnlessInside(LoopCore& loop) {
    if (current_loop() != &loop) scope_.emplace(loop);
  }

 private:
  std::optional<DriveScope> scope_;
};

/// Makes the calling thread look like a plain one for a scope: what it runs meanwhile finds no loop
/// of this thread. Its loops are still being driven. Every post and every reaction asks
/// loop_of_this_thread which loop the thread has. So that is set to null here: a second word for
/// "not now" would cost each of them one more look.
class DrivePause {
 public:
  DrivePause() noexcept : driven_(std::exchange(loop_of_this_thread, nullptr)) {}
  ~DrivePause() { loop_of_this_thread = driven_; }
  DrivePause(const DrivePause&) = delete;
  DrivePause& operator=(const DrivePause&) = delete;

 private:
  LoopCore* const driven_;
};

/// The innermost loop that the calling thread drives and of which is_it(const LoopCore&) is true,
/// or null.
template <class IsIt>
[[nodiscard]] LoopCore* find_driven(IsIt&& is_it) noexcept {
  LoopCore* driven = loop_of_this_thread;
  while (driven != nullptr && !is_it(*driven)) driven = driven->outer_loop();
  return driven;
}

/// Whether the calling thread drives `home`, perhaps with other loops nested in it. It compares
/// addresses only.
[[nodiscard]] inline bool drives_here(const TaskHome* home) noexcept {
  return find_driven([home](const LoopCore& loop) { return &loop == home; }) != nullptr;
}
/// The innermost loop that the calling thread drives and that is in a cluster, or null.
[[nodiscard]] inline LoopCore* member_here() noexcept {
  return find_driven([](const LoopCore& loop) { return loop.membership() != nullptr; });
}
/// Whether the calling thread is an agent of this cluster, perhaps with other loops nested in it.
[[nodiscard]] inline bool drives_member_here(const TaskHome& cluster) noexcept {
  return find_driven([&](const LoopCore& loop) { return loop.is_member_of(cluster); }) != nullptr;
}

/// Called by ForkWatch in a child process, where either nobody drives the loop, or the copy of the
/// thread that did. From then on the loop takes no tasks, and it stops.
void lose_agent(void* home) noexcept;

}  // namespace HEIST_NAMESPACE::detail
