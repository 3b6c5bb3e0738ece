// ParallelRegion: one call of a parallel algorithm, with its parts and its helpers.
#pragma once

#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <cstddef>
#include <heist/detail/helped_task.hpp>
#include <heist/detail/parallel_work.hpp>
#include <heist/detail/sync.hpp>
#include <heist/error.hpp>
#include <heist/priority.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "helper_count.hpp"
#include "waiting_helpers.hpp"

namespace HEIST_NAMESPACE::detail {

/// Parts that wait for somebody are tasks of oneTBB. They are in an arena that has a place for each
/// agent and none for a worker, so there are no threads but the cluster's. The caller waits in the
/// arena to the end. A helper is a stealable continuation. It enters the arena while something is
/// offered, and leaves when nothing is, or when its agent has something more urgent to do. It never
/// waits in the arena for work that may come (CLU-3).
///
/// The object belongs to the thread of the caller, for one call after another (RegionsHere).
/// Helpers that were called for one call and have not come by its end are there for the next one.
/// So calls with which nobody helps leave nothing behind.
///
/// Roles   caller: the thread of the call.  helper: any of the cluster's agents.
/// I1      A helper waits in the arena only while something is offered: it announces that it waits,
///         then looks. Whoever takes the last offer lets the waiting helpers go.
/// I2      Only threads that run a part touch what belongs to a call, while the caller waits.
/// Lifetime  shared by the thread and the helpers that were called.
class ParallelRegion : public std::enable_shared_from_this<ParallelRegion> {
 public:
  explicit ParallelRegion(Helpers helpers);
  ParallelRegion(const ParallelRegion&) = delete;
  ParallelRegion& operator=(const ParallelRegion&) = delete;

  // Called by the caller.
  void run(ParallelWork& work, HelpedTask task, const ParallelPart& whole);
  [[nodiscard]] bool may_run_for(const Helpers& helpers) const noexcept {
    return helpers_ == helpers && !count_.has_helpers_inside();
  }

  // Called by a thread that runs a part.

  /// Whether more parts should wait for somebody. One part should, so that an agent that has
  /// nothing to do finds something. Where one index takes long, or nobody knows how long, there
  /// should be one for each agent, because the next look is far away.
  [[nodiscard]] bool wants_offer_of(const ParallelPart& part) const noexcept;
  [[nodiscard]] bool try_leave(const ParallelPart& part);
  [[nodiscard]] bool offer(const ParallelPart& part);

 private:
  /// An agent that helps. The object is on the agent's stack.
  struct Helper {
    explicit Helper(ParallelRegion& helped) noexcept : region(helped) {}
    ParallelRegion& region;
    tbb::task_handle token;                   ///< as long as it exists, the helper takes parts
    std::optional<TaskPriority> leaves = {};  ///< the priority with which it is to be called again
  };
  /// What belongs to one call.
  struct Call {
    ParallelWork& work;
    const HelpedTask task;
    sync::atomic<bool> is_stopped{false};
    Reason error = {};  ///< written by the thread that stops the call
  };
  class Helping;

  void run_all(const ParallelPart& whole);
  void run_offered(const ParallelPart& part) noexcept;
  void run_part(const ParallelPart& part) noexcept;
  [[nodiscard]] bool is_stopped() noexcept;
  void fail(Reason error) noexcept;
  void take_offer() noexcept;

  void call_helper(TaskPriority priority) noexcept;
  [[nodiscard]] bool try_call_helper(TaskPriority priority) noexcept;
  void help() noexcept;
  void take_parts(Helper& helper);
  void let_go(unsigned agent) noexcept;
  [[nodiscard]] Helper* helper_here() const noexcept;
  /// Whether this thread should leave the rest of its part to the others.
  [[nodiscard]] bool wants_to_leave() noexcept;

  /// The helper that the calling thread is, in its innermost region.
  static thread_local constinit Helper* innermost_helper;

  const Helpers helpers_;
  const unsigned agents_;  ///< how many take part at a time
  const unsigned places_;
  tbb::task_arena arena_;
  HelperCount count_;
  WaitingHelpers<Helper> waiting_;
  alignas(64) Call* call_ = nullptr;  ///< the caller's, while it waits
  tbb::task_group* parts_ = nullptr;  ///< the same; null: the caller works alone
};

}  // namespace HEIST_NAMESPACE::detail
