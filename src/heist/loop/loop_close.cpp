// Closing a loop: everything it holds runs or is dropped, and nothing new is taken.
#include "loop_core.hpp"
#include "signal_core.hpp"

namespace heist {

namespace {

bool is_over(const CloseMode& mode) noexcept {
  return mode.deadline && LoopTime::Clock::now() >= *mode.deadline;
}

}  // namespace

CloseReport LoopCore::close(const CloseMode& mode) noexcept {
  auto& agent = on_agent();
  const auto ran_before = stats().tasks_run;
  const auto dropped_before = agent.tasks_dropped;
  if (mode.kind == CloseMode::Kind::drain) drain_until(mode);
  close_inbox();
  drop_everything();
  return {.ran = stats().tasks_run - ran_before,
          .aborted = agent.tasks_dropped - dropped_before,
          .still_running = 0};
}

void LoopCore::drain_until(const CloseMode& mode) noexcept {
  refuse_tasks();
  while (!is_over(mode)) {
    if (run_next()) continue;
    if (!mode.wait_for_delayed || !has_more_to_come()) return;
    park(mode.deadline);
  }
}

/// By the clock, or (another thread being there to do it) by resuming a scheduler.
bool LoopCore::has_more_to_come() noexcept {
  return next_deadline() || (on_agent().held_tasks != 0 && !time_.is_virtual());
}

/// Refuses everything from other threads, and takes what they had handed over.
void LoopCore::close_inbox() noexcept {
  arrive_all(inbox_.close());
  release_signals();
}

void LoopCore::drop_everything() noexcept {
  auto& agent = on_agent();
  agent.accepts_posts = false;
  while (reap_one()) {
  }
  agent.wheel.drain([this](LoopNode& node) noexcept {
    assert_agent();
    drop_task(static_cast<SchedulerTask&>(node));
  });
  while (SchedulerTask* task = agent.queues.pop()) drop_task(*task);
  const auto drop_those_of = [this](SchedulerCore& scheduler) noexcept {
    assert_agent();
    drop_held(scheduler);
  };
  first_scheduler_.each(drop_those_of);
  // By index: a callback's destructor may create one.
  // NOLINTNEXTLINE(modernize-loop-convert)
  for (std::size_t i = 0; i < more_schedulers_.size(); ++i) {
    more_schedulers_[i]->each(drop_those_of);
  }
  finish_garbage();
}

void LoopCore::finish_garbage() noexcept {
  release_signals();
  while (reap_one()) {
  }
  microtask_checkpoint();  // the reactions to these rejections
}

void LoopCore::drop_task(SchedulerTask& task) noexcept {
  task.place = TaskPlace::elsewhere;
  ++on_agent().tasks_dropped;
  task.ops->drop(task);
}

}  // namespace heist
