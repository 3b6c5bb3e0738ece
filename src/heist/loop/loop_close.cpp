// Closing a loop: everything it holds runs or is dropped, and nothing new is taken.
#include <algorithm>
#include <thread>

#include "loop_core.hpp"
#include "signal_core.hpp"

namespace heist {

namespace {

std::uint64_t difference(std::uint64_t from, std::uint64_t what) noexcept {
  return from - std::min(from, what);
}

/// Whether no task has begun, ended or come between two looks. (A close that drops has said before how many there are.)
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

/// What one of many attempts gives; none of them, for so long: none.
template <class Attempt>
auto try_for(std::chrono::milliseconds patience, Attempt&& attempt) noexcept {
  const auto end = LoopTime::Clock::now() + patience;
  for (;;) {
    auto found = attempt();
    if (found || LoopTime::Clock::now() >= end) return found;
    std::this_thread::yield();
  }
}

}  // namespace

CloseReport LoopCore::close() noexcept {
  if (is_closed()) return own_report();
  ended_before_close_.store(stats().tasks_run, sync::relaxed);  // relaxed: published below.
  is_closing_.store(true, sync::edge("closing:begin", sync::release));
  drain_by_terms();
  close_inbox();
  activity_
      .say_rests();  // users' destructors may take long; what is dropped is counted all the same
  drop_everything();
  is_closing_.store(false, sync::edge("closing:begin", sync::release));
  return own_report();
}

void LoopCore::drain_by_terms() noexcept {
  refuse_tasks();
  for (DrainWatch watch(close_terms_);;) {
    end_stop();  // a closer that hurries this one; the terms are read behind it
    if (close_terms_.are_over()) return;
    if (run_next() || on_agent().stop_taken) continue;
    if (!close_terms_.wait_for_delayed() || !has_more_to_come()) return;
    const auto look_at = watch.due();
    park(look_at ? look_at : close_terms_.deadline());
    if (look_at && LoopTime::Clock::now() >= *look_at)
      watch.look([this] { return find_obstacle(); });
  }
}

/// By the clock, or (another thread being there to do it) by resuming a scheduler.
bool LoopCore::has_more_to_come() noexcept {
  return next_deadline() || (on_agent().held_tasks != 0 && !time_.is_virtual());
}

/// Refuses everything from other threads, and takes what they had handed over.
void LoopCore::close_inbox() noexcept {
  arrive_left();
  arrive_all(inbox_.close());
  close_limits();
  close_aborts();
  release_signals();
}

void LoopCore::drop_everything() noexcept {
  auto& agent = on_agent();
  agent.accepts_posts = false;
  while (reap_one() != Reaped::none) {
  }
  each_scheduler([this](SchedulerCore& scheduler) noexcept {
    assert_agent();
    disarm_wake(scheduler);
  });
  agent.to_drop.store(agent.size(), sync::relaxed);  // relaxed: a number.
  agent.delays.drain([this](LoopNode& node) noexcept {
    assert_agent();
    drop_task(static_cast<SchedulerTask&>(node));
  });
  while (!agent.limits.empty()) drop_task(agent.limits.pop());
  while (SchedulerTask* task = agent.queues.pop()) drop_task(*task);
  each_scheduler([this](SchedulerCore& scheduler) noexcept {
    assert_agent();
    drop_held(scheduler);
  });
  finish_garbage();
}

void LoopCore::finish_garbage() noexcept {
  release_signals();
  while (reap_one() != Reaped::none) {
  }
  microtask_checkpoint();  // the reactions to these rejections
}

void LoopCore::drop_task(SchedulerTask& task) noexcept {
  task.place = TaskPlace::elsewhere;
  ++on_agent().tasks_dropped;
  task.ops->drop(task);
}

DrainObstacle LoopCore::find_obstacle() const {
  DrainObstacle found{.what = {}, .mark = stats().tasks_run};
  // relaxed, both: a hint.
  if (member_.wait.on.load(sync::relaxed) != nullptr) {
    found.what = "the running task waits for a promise";
    found.mark += member_.wait.count.load(sync::relaxed);  // relaxed: as above.
  } else if (const std::size_t held = agent_->held_tasks; held != 0) {
    found.what = std::to_string(held) + " tasks of a suspended scheduler wait for its resume";
  }
  return found;
}

// The report.

/// What runs is read first: the numbers are those of that time, or later ones.
TaskTally LoopCore::read_tally() noexcept {
  TaskTally now;
  now.running = activity_.running();
  now.begun = tasks_run_;
  now.dropped = agent_->tasks_dropped;
  // relaxed: a number.
  const std::uint64_t to_drop = agent_->to_drop.load(sync::relaxed);
  now.not_started = to_drop != 0
                        ? difference(to_drop, now.dropped)
                        : agent_->size() + inbox_.count_tasks() + limits_to_arm_.count_tasks();
  return now;
}

std::optional<TaskTally> LoopCore::try_tally() noexcept {
  const TaskTally tally = read_tally();
  // The second look begins with what runs, and so sees every number that the agent had changed by then. If all is as in
  // the first look, no task was on its way from one place to another while that one read the numbers.
  if (tally.running.moves_tasks || !tell_the_same(tally, read_tally())) return std::nullopt;
  return tally;
}

TaskTally LoopCore::tally() noexcept {
  const auto tally = try_for(patience, [this] { return try_tally(); });
  return tally ? *tally : read_tally();
}

std::optional<TasksBegun> LoopCore::try_count_begun() noexcept {
  const Running before = activity_.running();
  const std::uint64_t count = tasks_run_;
  if (before.is_counted) return TasksBegun{count, before};
  const Running after = activity_.running();
  // Else one may run that is the last of those counted, or not counted yet.
  if (after.moves_tasks || after.is_counted) return std::nullopt;
  return TasksBegun{count, after};
}

TasksBegun LoopCore::count_begun() noexcept {
  const auto begun = try_for(patience, [this] { return try_count_begun(); });
  return begun ? *begun : TasksBegun{tasks_run_, {}};
}

CloseReport LoopCore::report_since(std::uint64_t ended) noexcept {
  return report_of(tally(), ended);
}

CloseReport LoopCore::own_report() noexcept {
  // relaxed: written before by this thread, or by who drove the loop before it.
  return report_of(read_tally(), ended_before_close_.load(sync::relaxed));
}

}  // namespace heist
