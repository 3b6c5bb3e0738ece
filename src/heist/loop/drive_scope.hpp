// DriveScope: which loops the calling thread is the agent of.
#pragma once

#include <heist/error.hpp>
#include <optional>
#include <utility>

#include "loop_core.hpp"

namespace HEIST_NAMESPACE::detail {

/// Makes the calling thread the loop's agent for a scope. Scopes of different loops nest: a task of
/// one loop may drive, or destroy, another one.
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
};

/// The same, for calls that are also allowed from within a task of the loop.
class DriveScopeUnlessInside {
 public:
  explicit DriveScopeUnlessInside(LoopCore& loop) {
    if (current_loop() != &loop) scope_.emplace(loop);
  }

 private:
  std::optional<DriveScope> scope_;
};

/// For a scope the calling thread drives no loop: what it runs meanwhile is as on a plain thread.
/// Its loops go on being driven. That a thread has a loop is asked in one place only,
/// loop_of_this_thread, by every post and by every reaction: a second word for "not now" would be
/// one more look for each of them.
class DrivePause {
 public:
  DrivePause() noexcept : driven_(std::exchange(loop_of_this_thread, nullptr)) {}
  ~DrivePause() { loop_of_this_thread = driven_; }
  DrivePause(const DrivePause&) = delete;
  DrivePause& operator=(const DrivePause&) = delete;

 private:
  LoopCore* const driven_;
};

/// The innermost of the loops that the calling thread drives of which is_it(const LoopCore&) is
/// true; null: none.
template <class IsIt>
[[nodiscard]] LoopCore* find_driven(IsIt&& is_it) noexcept {
  LoopCore* driven = loop_of_this_thread;
  while (driven != nullptr && !is_it(*driven)) driven = driven->outer_loop();
  return driven;
}

/// Whether the calling thread drives `home`, be it outside of another loop. Only compares.
[[nodiscard]] inline bool drives_here(const TaskHome* home) noexcept {
  return find_driven([home](const LoopCore& loop) { return &loop == home; }) != nullptr;
}
/// The loop that the calling thread drives that is in a cluster; null: none.
[[nodiscard]] inline LoopCore* member_here() noexcept {
  return find_driven([](const LoopCore& loop) { return loop.membership() != nullptr; });
}
/// Whether the calling thread is an agent of this cluster, be it outside of another loop.
[[nodiscard]] inline bool drives_member_here(const TaskHome& cluster) noexcept {
  return find_driven([&](const LoopCore& loop) { return loop.is_member_of(cluster); }) != nullptr;
}

/// For ForkWatch: in this child of fork nobody drives the loop, or a copy of the thread that did.
/// It takes no tasks, and stops.
void lose_agent(void* home) noexcept;

}  // namespace HEIST_NAMESPACE::detail
