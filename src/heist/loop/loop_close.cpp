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
  LoopNode* node = inbox_.close();
  while (node != nullptr) {
    LoopNode* next = node->next;
    arrive(*node);
    node = next;
  }
  if (mode.kind == CloseMode::Kind::drain) drain_until(mode);
  drop_everything();
  return {.ran = stats().tasks_run - ran_before,
          .aborted = agent.tasks_dropped - dropped_before,
          .still_running = 0};
}

void LoopCore::drain_until(const CloseMode& mode) noexcept {
  while (!is_over(mode)) {
    if (run_next()) continue;
    const auto next = mode.wait_for_delayed ? next_deadline() : std::nullopt;
    if (!next) return;
    // The inbox is closed, so nobody wakes us: only time passes.
    parker_.prepare();
    parker_.wait(mode.deadline ? std::min(*next, *mode.deadline) : *next);
  }
}

void LoopCore::drop_everything() noexcept {
  auto& agent = on_agent();
  agent.accepts_posts = false;
  reap_some(true);
  agent.wheel.drain([this](LoopNode& node) noexcept {
    static_cast<void>(on_agent());
    drop_task(static_cast<SchedulerTask&>(node));
  });
  while (SchedulerTask* task = agent.queues.pop()) drop_task(*task);
  reap_some(true);
  microtask_checkpoint();  // the reactions to these rejections
}

void LoopCore::drop_task(SchedulerTask& task) noexcept {
  task.place = TaskPlace::elsewhere;
  ++on_agent().tasks_dropped;
  task.ops->drop(task);
}

}  // namespace heist
