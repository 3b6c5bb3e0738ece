// LoopClosing: the end of a loop: everything it holds runs or is dropped, and nothing new is taken.
#pragma once

#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/sync.hpp>
#include <heist/event_loop.hpp>

#include "agent_role.hpp"
#include "drain_watch.hpp"

namespace HEIST_NAMESPACE::detail {

class LoopCore;

/// Roles   agent: closes.  closer: any thread; hurries the close, and reads its report.
/// Edge closing: begin -> see. Carries the numbers from which the report of this close counts.
class LoopClosing {
 public:
  explicit LoopClosing(LoopCore& loop) noexcept : loop_(loop) {}
  LoopClosing(const LoopClosing&) = delete;
  LoopClosing& operator=(const LoopClosing&) = delete;

  /// Called by the agent: runs or drops everything by the terms that were asked for, and takes
  /// nothing afterwards. A second call does nothing.
  CloseReport close() noexcept HEIST_ON_AGENT;
  CloseReport close(const CloseMode& mode) noexcept HEIST_ON_AGENT;
  /// Called by the agent: clears away what was aborted and is still there.
  void finish() noexcept HEIST_ON_AGENT;

  /// Called by the agent of a closed loop within a drop that waits for others: drops all that is
  /// left.
  void drop_left() noexcept HEIST_ON_AGENT;

  /// Called by any thread: makes a close that is under way go by these terms where they are
  /// stricter.
  void hurry(const CloseMode& mode) noexcept;
  /// Whether a close() is under way.   Thread: any.
  [[nodiscard]] bool is_under_way() const noexcept {
    return is_under_way_.load(sync::edge("closing:see", sync::acquire));
  }
  /// Finds what a drain waits for that makes no progress.   Thread: any.   Errors: std::bad_alloc.
  [[nodiscard]] DrainObstacle find_obstacle() const;

 private:
  void drain_by_terms() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool has_more_to_come() noexcept HEIST_ON_AGENT;
  void drop_everything() noexcept HEIST_ON_AGENT;
  void drop_waiting(SchedulerCore& scheduler) noexcept HEIST_ON_AGENT;
  void drop(SchedulerTask& task) noexcept HEIST_ON_AGENT;

  LoopCore& loop_;
  sync::atomic<bool> is_under_way_{false};
};

}  // namespace HEIST_NAMESPACE::detail
