#include "loop_closing.hpp"

#include <string>

#include "loop_core.hpp"

namespace HEIST_NAMESPACE::detail {

CloseReport LoopClosing::close(const CloseMode& mode) noexcept {
  loop_.close_terms().tighten(mode);
  return close();
}

void LoopClosing::hurry(const CloseMode& mode) noexcept {
  loop_.close_terms().tighten(mode);
  loop_.stop_request().send();
}

CloseReport LoopClosing::close() noexcept {
  auto& counts = loop_.counts();
  if (loop_.is_closed()) return counts.own_report();
  counts.begin_report();
  is_under_way_.store(true, sync::edge("closing:begin", sync::release));
  drain_by_terms();
  loop_.close_inbox();
  // Users' destructors may take long; what is dropped is counted all the same.
  counts.activity().say_rests();
  drop_everything();
  is_under_way_.store(false, sync::edge("closing:begin", sync::release));
  return counts.own_report();
}

void LoopClosing::drain_by_terms() noexcept {
  auto& terms = loop_.close_terms();
  loop_.refuse_tasks();
  for (DrainWatch watch(terms);;) {
    loop_.stop_request().end();  // a closer that hurries this one; the terms are read behind it
    if (terms.are_over()) return;
    if (loop_.run_next() || loop_.stop_request().has_come()) {
      loop_.poll_host_after_task();
      continue;
    }
    if (!terms.wait_for_delayed() || !has_more_to_come()) return;
    const auto look_at = watch.due();
    loop_.park(look_at ? look_at : terms.deadline());
    if (look_at && LoopTime::Clock::now() >= *look_at)
      watch.look([this] { return find_obstacle(); });
  }
}

/// Whether there may be more to do later, by the clock or, if another thread is there to do it,
/// when a scheduler is resumed.
bool LoopClosing::has_more_to_come() noexcept {
  const auto& waiting = loop_.on_agent().waiting;
  return waiting.next_deadline() || (waiting.held() != 0 && !loop_.time().is_virtual());
}

void LoopClosing::drop_everything() noexcept {
  auto& agent = loop_.on_agent();
  auto& waiting = agent.waiting;
  agent.accepts_posts = false;
  waiting.end_wakes();
  loop_.aborted().reap_all();
  loop_.each_scheduler([&](SchedulerCore& scheduler) noexcept { waiting.disarm_wake(scheduler); });
  loop_.counts().begin_to_drop(agent.size());
  drop_left();
  finish();
}

void LoopClosing::drop_left() noexcept {
  auto& agent = loop_.on_agent();
  auto& waiting = agent.waiting;
  waiting.drain_delays([this](SchedulerTask& task) noexcept {
    loop_.assert_agent();
    drop(task);
  });
  while (!waiting.limits().empty()) drop(waiting.limits().pop());
  while (SchedulerTask* task = agent.queues.pop()) {
    ++agent.queues.counts(task->level).dropped;
    drop(*task);
  }
  loop_.each_scheduler([this](SchedulerCore& scheduler) noexcept {
    loop_.assert_agent();
    drop_waiting(scheduler);
  });
}

/// Drops what a scheduler holds back, which never starts.
void LoopClosing::drop_waiting(SchedulerCore& scheduler) noexcept {
  auto& waiting = loop_.on_agent().waiting;
  while (SchedulerTask* task = scheduler.held.front()) {
    static_cast<void>(waiting.withdraw(*task));
    drop(*task);
  }
  waiting.drain_delayed(scheduler, [this](SchedulerTask& task) noexcept {
    loop_.assert_agent();
    drop(task);
  });
}

void LoopClosing::finish() noexcept {
  loop_.release_signals();
  loop_.aborted().reap_all();
  loop_.microtask_checkpoint();  // the reactions to these rejections
}

void LoopClosing::drop(SchedulerTask& task) noexcept {
  task.place = TaskPlace::elsewhere;
  loop_.counts().count_drop();
  if (!task.has_control) loop_.sampling().forget(task);  // the others do so as they are disposed of
  task.ops->drop(task);
}

DrainObstacle LoopClosing::find_obstacle() const {
  DrainObstacle found{.what = {}, .mark = loop_.counts().run()};
  const AgentWait& wait = loop_.wait();
  // relaxed, both: a hint.
  if (wait.on.load(sync::relaxed) != nullptr) {
    found.what = "the running task waits for a promise";
    found.mark += wait.count.load(sync::relaxed);  // relaxed: as above.
  } else if (const std::size_t held = loop_.waiting().held(); held != 0) {
    found.what = std::to_string(held) + " tasks of a suspended scheduler wait for its resume";
  }
  return found;
}

}  // namespace HEIST_NAMESPACE::detail
