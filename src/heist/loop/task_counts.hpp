// TaskCounts: how many tasks a loop has begun, dropped and still has, as a close reports it.
#pragma once

#include <array>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <heist/event_loop.hpp>
#include <heist/task_source.hpp>
#include <optional>

#include "../concurrent/own_count.hpp"
#include "agent_activity.hpp"

namespace HEIST_NAMESPACE::detail {

class LoopCore;

/// How many tasks a loop has begun, and the one that has not ended.
struct TasksBegun {
  std::uint64_t count = 0;
  Running running;

  [[nodiscard]] std::uint64_t ended() const noexcept {
    return count - (running.is_counted ? 1 : 0);
  }
};

/// What has become of a loop's tasks so far.
struct TaskTally {
  std::uint64_t begun = 0;
  std::uint64_t dropped = 0;      ///< by a close
  std::uint64_t not_started = 0;  ///< still there, with aborted ones that are not cleared away yet
  Running running;
};

/// The agent counts, and threads that wait for the end of a close add up what they find.
///
/// Thread: any, unless said otherwise.
class TaskCounts {
 public:
  explicit TaskCounts(LoopCore& loop) noexcept : loop_(loop) {}

  // What only the agent calls.

  /// Counts one more task whose callback is called.
  void count_run() noexcept { ++run_; }
  void count_drop() noexcept { ++dropped_; }
  void count_source(TaskSource source) noexcept {
    auto& count = of_source_[static_cast<std::size_t>(source)];
    // relaxed: a statistic with one writer.
    count.store(count.load(sync::relaxed) + 1, sync::relaxed);
  }
  /// Called when the close begins to drop all the tasks that are left.
  void begin_to_drop(std::uint64_t tasks) noexcept {
    to_drop_.store(tasks, sync::relaxed);  // relaxed: a number.
  }
  /// Called when a close begins, as its report does not count tasks that ended before.
  void begin_report() noexcept {
    ended_before_close_.store(run_, sync::relaxed);  // relaxed: see report().
  }
  /// The report as the agent knows it, once the loop is closed.
  [[nodiscard]] CloseReport own_report() const noexcept;

  // What any thread may call.

  [[nodiscard]] std::uint64_t run() const noexcept { return run_; }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  [[nodiscard]] std::uint64_t run_of(std::size_t source) const noexcept {
    return of_source_[source].load(sync::relaxed);  // relaxed: a statistic.
  }
  /// What the agent says that it does at the moment.
  [[nodiscard]] AgentActivity& activity() noexcept { return activity_; }
  [[nodiscard]] const AgentActivity& activity() const noexcept { return activity_; }
  /// The tally is exact, unless the agent gets no processor for long while it moves tasks.
  /// Blocks: for a moment at the most, and while it walks over what the inbox holds.
  [[nodiscard]] TaskTally tally() const noexcept;
  /// The same in one try, without waiting. Returns nothing when the agent moves tasks.
  [[nodiscard]] std::optional<TaskTally> try_tally() const noexcept;
  /// The tasks that had begun at some time during the call.   Blocks: as tally() does.
  [[nodiscard]] TasksBegun begun() const noexcept;
  /// The same in one try, without waiting. Returns nothing when the agent moves tasks.
  [[nodiscard]] std::optional<TasksBegun> try_begun() const noexcept;
  /// The report of all tasks but the first `ended` to end.
  [[nodiscard]] CloseReport report_since(std::uint64_t ended) const noexcept;
  [[nodiscard]] CloseReport report() const noexcept {
    // relaxed: written before by this thread, or ordered by closing:see.
    return report_since(ended_before_close_.load(sync::relaxed));
  }

 private:
  [[nodiscard]] TaskTally read() const noexcept;

  LoopCore& loop_;
  AgentActivity activity_;
  OwnCount run_;
  OwnCount dropped_;
  sync::atomic<std::size_t> to_drop_{0};  ///< how many the close drops, once it has begun to
  sync::atomic<std::uint64_t> ended_before_close_{0};
  std::array<sync::atomic<std::uint64_t>, task_source_count> of_source_{};
};

}  // namespace HEIST_NAMESPACE::detail
