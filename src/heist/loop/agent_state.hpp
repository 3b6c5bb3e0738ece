// What only a loop's agent touches.
#pragma once

#include <cstdint>
#include <heist/detail/scheduling_state.hpp>
#include <heist/detail/urgent_look.hpp>
#include <heist/error.hpp>

#include "local_tasks.hpp"
#include "microtask_queue.hpp"
#include "upkeep_time.hpp"

namespace HEIST_NAMESPACE::detail {

/// State that only the agent touches. It is reached through LoopCore::on_agent().
struct AgentState : LocalTasks {
  using LocalTasks::LocalTasks;

  /// How many tasks a pick passes over before it looks at the inbox and the clock again.
  static constexpr unsigned pass_portion = 64;

  /// Counts a task that a pick has passed over. Returns false when the pick has to look at the
  /// inbox and the clock before it goes on.
  [[nodiscard]] bool may_pass_more() noexcept {
    goes_on = ++passed % pass_portion == 0;
    return !goes_on;
  }

  /// Changes what runs, other than at the start of a task: what has looked before has not looked
  /// for this one.
  void change_current(const SchedulingState& to) noexcept {
    current = to;
    look.forget();
  }

  UrgentLook look;
  MicrotaskQueue microtasks;
  SchedulingState current;              ///< scheduling state of what runs now
  std::uint32_t cooperative_tasks = 0;  ///< how many have run; the next one's number
  bool in_checkpoint = false;
  bool accepts_posts = true;  ///< from the agent itself; the inbox decides for others
  bool not_started = false;   ///< the task that was to run had been aborted
  bool is_searching = false;  ///< for work of its cluster; see IdleAgents
  bool goes_on = false;       ///< the pick has passed over many tasks, and goes on later
  unsigned passed = 0;        ///< how many tasks picks have passed over
  UpkeepTime clearing;        ///< the time spent on clearing aborted tasks away
  Reason rethrown;            ///< what a task rethrew last (rethrown.hpp)
};

}  // namespace HEIST_NAMESPACE::detail
