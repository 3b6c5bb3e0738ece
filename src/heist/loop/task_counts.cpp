#include "task_counts.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "loop_core.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

/// How long a close waits for an agent that moves tasks, so that each is counted once.
constexpr std::chrono::milliseconds patience{50};

std::uint64_t difference(std::uint64_t from, std::uint64_t what) noexcept {
  return from - std::min(from, what);
}

/// Whether no task has begun, ended or come between two looks. (A close that drops has said before
/// how many there are.)
bool tell_the_same(const TaskTally& one, const TaskTally& other) noexcept {
  return one.begun == other.begun && one.running == other.running &&
         one.dropped + one.not_started == other.dropped + other.not_started;
}

CloseReport report_of(const TaskTally& now, std::uint64_t ended) noexcept {
  const std::uint64_t running = now.running.is_counted ? 1 : 0;
  return {.ran = difference(now.begun, ended + running),
          .aborted = now.dropped,
          .not_started = now.not_started,
          .still_running = now.running.what != nullptr ? 1U : 0};
}

/// What the first successful attempt gives; nothing when none succeeds within the patience.
template <class Attempt>
auto try_for(std::chrono::milliseconds time, Attempt&& attempt) noexcept {
  const auto end = LoopTime::Clock::now() + time;
  for (;;) {
    auto found = attempt();
    if (found || LoopTime::Clock::now() >= end) return found;
    std::this_thread::yield();
  }
}

}  // namespace

/// What runs is read first, so that the numbers are those of that time, or later ones.
TaskTally TaskCounts::read() const noexcept {
  TaskTally now;
  now.running = activity_.running();
  now.begun = run_;
  now.dropped = dropped_;
  // relaxed: a number.
  const std::uint64_t to_drop = to_drop_.load(sync::relaxed);
  now.not_started = to_drop != 0 ? difference(to_drop, now.dropped) : loop_.count_unstarted();
  return now;
}

std::optional<TaskTally> TaskCounts::try_tally() const noexcept {
  const TaskTally tally = read();
  // The second look begins with what runs, and so sees every number that the agent had changed by
  // then. If all is as in the first look, no task was on its way from one place to another while
  // that one read the numbers.
  if (tally.running.moves_tasks || !tell_the_same(tally, read())) return std::nullopt;
  return tally;
}

TaskTally TaskCounts::tally() const noexcept {
  const auto found = try_for(patience, [this] { return try_tally(); });
  return found ? *found : read();
}

std::optional<TasksBegun> TaskCounts::try_begun() const noexcept {
  const Running before = activity_.running();
  const std::uint64_t count = run_;
  if (before.is_counted) return TasksBegun{count, before};
  const Running after = activity_.running();
  // Otherwise a task may run that is the last of those counted, or not counted yet.
  if (after.moves_tasks || after.is_counted) return std::nullopt;
  return TasksBegun{count, after};
}

TasksBegun TaskCounts::begun() const noexcept {
  const auto found = try_for(patience, [this] { return try_begun(); });
  return found ? *found : TasksBegun{run_, {}};
}

CloseReport TaskCounts::report_since(std::uint64_t ended) const noexcept {
  return report_of(tally(), ended);
}

CloseReport TaskCounts::own_report() const noexcept {
  // relaxed: written before by this thread, or by who drove the loop before it.
  return report_of(read(), ended_before_close_.load(sync::relaxed));
}

}  // namespace HEIST_NAMESPACE::detail
