// The agent's side of a loop: the hot path is run_next().
#include <heist/error.hpp>
#include <utility>

#include "../concurrent/rethrown.hpp"
#include "cluster_hub.hpp"
#include "loop_core.hpp"
#include "signal_core.hpp"

namespace heist {

namespace {

/// How many aborted tasks one pick clears away while others wait (ABT-4).
constexpr int reap_portion = 32;

}  // namespace

thread_local constinit LoopCore* loop_of_this_thread = nullptr;

LoopCore* current_loop() noexcept { return loop_of_this_thread; }

Driving::Driving(LoopCore& loop) : loop_(loop) {
  if (loop.driven_.exchange(true, sync::edge("drive:enter", sync::acquire))) {
    throw NotAllowedError("this event loop is being driven already, here or on another thread");
  }
  loop.outer_loop_ = std::exchange(loop_of_this_thread, &loop);
  outer_rethrown_ = std::exchange(rethrown, &loop.agent_->rethrown);
}

Driving::~Driving() {
  Reason forgotten = std::exchange(loop_.agent_->rethrown, {});
  rethrown = nullptr;
  loop_of_this_thread = loop_.outer_loop_;
  loop_.driven_.store(false, sync::edge("drive:leave", sync::release));
  forget(forgotten);  // its destructor may use the loop
  rethrown = outer_rethrown_;
}

/// Whether collect_work() may have something to do; most picks have not.
inline bool LoopCore::has_news() noexcept {
  auto& agent = on_agent();
  const bool quiet = agent.reap == nullptr && agent.discarded.empty() &&
                     agent.released == nullptr && agent.microtasks.empty() && agent.wheel.empty();
  // relaxed: the exchange in recheck_priorities() orders it.
  return !quiet || inbox_.has_posts() || recheck_.load(sync::relaxed);
}

/// Continuations that have gone first for the whole cap let one task of their priority pass (YLD-6).
SchedulerTask* LoopCore::pop_capped() noexcept {
  auto& agent = on_agent();
  const int top = agent.queues.top_level();
  const bool is_continuation = top >= 0 && top % 2 == 1;
  if (!is_continuation || top != std::exchange(agent.continuation_level, top)) {
    agent.continuation_level = is_continuation ? top : -1;
    if (is_continuation) agent.continuations_since = time_.now();
    return agent.queues.pop();
  }
  const bool is_over = time_.now() - agent.continuations_since >= continuation_cap_;
  if (!is_over || !agent.queues.has_tasks_at(top - 1)) return agent.queues.pop();
  agent.continuation_level = -1;
  return agent.queues.pop_from(top - 1);
}

/// Null: the first one is not to run now, and has been set aside.   Precondition: there is one.
inline SchedulerTask* LoopCore::try_pick() noexcept {
  auto& agent = on_agent();
  const int continuation_level = agent.continuation_level;
  SchedulerTask* task =
      continuation_cap_ == continuation_cap_.zero() ? agent.queues.pop() : pop_capped();
  if (task->is_aborted()) {
    discard(*task);
  } else if (agent.suspended_schedulers != 0 && task->scheduler->suspended) [[unlikely]] {
    hold(*task);
  } else {
    return task;
  }
  agent.continuation_level = continuation_level;  // what does not run has not been picked
  return nullptr;
}

inline SchedulerTask* LoopCore::pick() noexcept {
  while (!on_agent().queues.empty()) {
    if (SchedulerTask* task = try_pick()) return task;
  }
  return nullptr;
}

/// Of all agents' tasks and continuations and this loop's own tasks.
LoopNode* LoopCore::pick_in_cluster() noexcept {
  auto& agent = on_agent();
  if (member_.hub->wants_keeper()) member_.hub->keep(*this);
  for (;;) {
    LoopNode* node = member_.hub->pick(*this, agent.queues.top_level());
    if (node == nullptr) {
      if (agent.queues.empty()) return nullptr;
      if (SchedulerTask* task = try_pick()) return task;
      continue;  // what comes next may be of a lower level
    }
    if (node->ops->kind != LoopNodeKind::task) return node;
    auto& task = static_cast<SchedulerTask&>(*node);
    if (!task.is_aborted()) return node;
    agent.discarded.push_back(task);
  }
}

inline void LoopCore::end_task() noexcept {
  auto& agent = on_agent();
  agent.current = {};
  microtask_checkpoint();
  if (agent.rethrown) [[unlikely]] {
    forget(agent.rethrown);
    microtask_checkpoint();  // what an exception's destructor has queued
  }
  in_task_.store(false, sync::relaxed);  // relaxed: see is_running_task().
}

/// Before users' code runs, which may take long: others look for what is published meanwhile (CLU-3, DLY-5).
inline void LoopCore::end_search() noexcept {
  if (member_.searching) member_.hub->end_search(*this);
}

/// False: an abort came before the start, nothing ran.
bool LoopCore::run_picked(LoopNode& node) noexcept {
  end_search();
  if (node.ops->kind == LoopNodeKind::task) return run_task(static_cast<SchedulerTask&>(node));
  in_task_.store(true, sync::edge("running:publish", sync::release));
  if (node.ops->kind == LoopNodeKind::forked) {
    node.ops->run(node, *this);
  } else {
    run_reaction(static_cast<Reaction&>(node));
  }
  end_task();
  return true;
}

/// False: an abort came before the start, nothing ran.
inline bool LoopCore::run_task(SchedulerTask& task) noexcept {
  auto& agent = on_agent();
  const bool may_not_start = task.has_control;
  if (may_not_start) {
    publish_running(ControlledTask::of(task));  // its state is set when it has started
  } else {
    agent.current = {.scheduler = task.scheduler, .priority = task.priority};
    count_run();
  }
  in_task_.store(true, sync::edge("running:publish", sync::release));
  task.ops->run(task, *this);
  end_task();
  return !may_not_start || !std::exchange(agent.not_started, false);
}

bool LoopCore::run_next(bool heed_stop) noexcept {
  for (;;) {
    if (has_news()) collect_work();
    if (heed_stop && on_agent().stop_requested) return false;
    if (member_.hub != nullptr) {
      if (LoopNode* node = pick_in_cluster()) {
        if (run_picked(*node)) return true;
        continue;
      }
    } else if (SchedulerTask* task = pick()) {
      if (run_task(*task)) return true;
      continue;
    }
    if (!has_loose_ends()) {
      // (Clearing garbage away runs users' destructors, which may make something runnable.)
      return false;
    }
  }
}

bool LoopCore::wait_and_run() noexcept {
  constexpr bool heed_stop = true;
  auto& agent = on_agent();
  while (!agent.stop_requested) {
    if (run_next(heed_stop)) return true;
    if (!agent.accepts_posts) return false;
    if (!agent.stop_requested) park();
  }
  return false;
}

void LoopCore::run() noexcept {
  while (wait_and_run()) {
  }
  end_stop();
}

/// Makes runnable what other threads and the clock have for us.
void LoopCore::collect_work() noexcept {
  auto& agent = on_agent();
  drain_inbox();
  // Both run users' code: this pick goes by what that posts and re-prioritises, too.
  if (has_garbage()) {
    reap_some();
    drain_inbox();
  }
  if (!agent.microtasks.empty()) {
    microtask_checkpoint();
    drain_inbox();
  }
  expire_timers();
  if (recheck_.load(sync::relaxed)) recheck_priorities();  // relaxed: the exchange there orders it.
}

bool LoopCore::has_loose_ends() noexcept {
  auto& agent = on_agent();
  return has_garbage() || inbox_.has_posts() || agent.released != nullptr ||
         !agent.microtasks.empty();
}

bool LoopCore::has_garbage() noexcept {
  return on_agent().reap != nullptr || !on_agent().discarded.empty();
}

void LoopCore::drain_all() noexcept {
  take_inbox();
  if (on_agent().released == nullptr) return;
  release_signals();
  take_inbox();  // what the destructors posted and re-prioritised
}

/// Users' destructors may run here; what was posted before them has its order already.
void LoopCore::release_signals() noexcept {
  SignalLoop* part = std::exchange(on_agent().released, nullptr);
  if (part != nullptr) end_search();
  while (part != nullptr) {
    SignalLoop* next = part->next_released;
    SignalCore& signal = *part->signal;
    for (int count = std::exchange(part->releases, 0); count > 0; --count) release(signal);
    part = next;
  }
}

void LoopCore::release_later(SignalLoop& part) noexcept {
  if (part.releases++ != 0) return;
  part.next_released = std::exchange(on_agent().released, &part);
}

void LoopCore::run_microtasks() noexcept {
  auto& agent = on_agent();
  if (agent.in_checkpoint) return;
  end_search();
  agent.in_checkpoint = true;
  while (!agent.microtasks.empty()) {
    run_reaction(static_cast<Reaction&>(agent.microtasks.pop()));
  }
  agent.in_checkpoint = false;
}

void LoopCore::run_reaction(Reaction& reaction) noexcept {
  auto& agent = on_agent();
  // Kept here: the reaction may be gone before its continuation is done with the state.
  const CapturedState captured = std::move(reaction.captured);
  const auto loop = std::move(reaction.loop);
  agent.current = captured.state();
  reaction.ops->run(reaction, *this);
  agent.current = {};
}

void LoopCore::refresh_priority(SignalLoop& part) noexcept {
  auto& queues = on_agent().queues;
  const TaskPriority priority = part.priority();
  for (const bool continuation : {false, true}) {
    queues.move(part.queues[continuation ? 1 : 0], effective_priority(priority, continuation));
  }
}

/// Rare: a priority message was on its way while its sender had to return (D1 of SignalLoop).
void LoopCore::recheck_priorities() noexcept {
  if (!recheck_.exchange(false, sync::edge("recheck:take", sync::seq_cst))) return;
  on_agent().queues.relevel([](DynamicQueue& queue) noexcept {
    const auto& first = ControlledTask::of(*queue.tasks.front());
    return effective_priority(priority_part_of(first).priority(), first.is_continuation);
  });
}

void LoopCore::reap_later(SignalLoop& part) noexcept {
  auto& agent = on_agent();
  if (agent.reap == nullptr) {
    agent.reap = part.reap_head;
  } else {
    agent.reap_tail->chain = part.reap_head;
  }
  agent.reap_tail = part.reap_tail;
  part.reap_head = nullptr;
}

void LoopCore::reap_some() noexcept {
  end_search();
  for (int done = 0; done < reap_portion && reap_one(); ++done) {
  }
}

/// Disposes of one aborted task; false when none is left.
bool LoopCore::reap_one() noexcept {
  auto& agent = on_agent();
  if (SchedulerTask* task = agent.discarded.front()) {
    agent.discarded.pop_front();
    if (!task->is_stealable()) task->place = TaskPlace::elsewhere;
    dispose(ControlledTask::of(*task));
    return true;
  }
  if (agent.reap == nullptr) return false;
  ControlledTask& task = *agent.reap;
  agent.reap = static_cast<ControlledTask*>(task.chain);
  if (task.is_stealable()) {
    task.is_withdrawn ? dispose(task) : discard_contents(task);
  } else if (withdraw(task)) {
    dispose(task);  // otherwise not arrived yet, or disposed of already
  }
  task.task_ops().unregister(task);  // the aborter's share
  return true;
}

bool LoopCore::withdraw(SchedulerTask& task) noexcept {
  auto& agent = on_agent();
  if (task.place == TaskPlace::queued) {
    agent.queues.erase(task,
                       task.is_dynamic ? &dynamic_queue_of(ControlledTask::of(task)) : nullptr);
  } else if (task.place == TaskPlace::delayed) {
    agent.wheel.cancel(task);
    task.place = TaskPlace::elsewhere;
  } else if (task.place == TaskPlace::held || task.place == TaskPlace::held_delayed) {
    release_held(task);
  } else {
    return false;
  }
  return true;
}

bool LoopCore::has_work() noexcept {
  auto& agent = on_agent();
  if (has_loose_ends() || !agent.queues.empty()) return true;
  return !agent.wheel.empty() && agent.wheel.next_expiry() <= time_.tick_now();
}

void LoopCore::spin_for_work() noexcept {
  spin_until(spin_, *this, [this] {
    assert_agent();
    return has_work();
  });
}

/// When the clock will next have something for us; never on a virtual clock, which others move.
std::optional<LoopTime::Clock::time_point> LoopCore::next_deadline() noexcept {
  if (time_.is_virtual()) return std::nullopt;
  return time_.steady_start_of(on_agent().wheel.next_expiry());
}

void LoopCore::count_sleep() noexcept {
  // relaxed: one writer, a statistic.
  sleeps_.store(sleeps_.load(sync::relaxed) + 1, sync::relaxed);
}

void LoopCore::park(std::optional<LoopTime::Clock::time_point> limit) noexcept {
  if (member_.hub != nullptr) return member_.hub->park(*this, limit);
  spin_for_work();
  forget(on_agent().rethrown);
  if (has_work()) return;  // also what an exception's destructor has posted
  parker_.prepare();
  if (!inbox_.try_sleep()) return;
  count_sleep();
  auto deadline = next_deadline();
  if (limit && (!deadline || *limit < *deadline)) deadline = limit;
  parker_.wait(deadline);
  static_cast<void>(inbox_.cancel_sleep());
}

void LoopCore::arm_descriptor() noexcept {
  parker_.prepare();
  if (has_work() || !inbox_.try_sleep()) return parker_.unpark();
  parker_.arm_descriptor(next_deadline());
}

void LoopCore::disarm_descriptor() noexcept {
  static_cast<void>(inbox_.cancel_sleep());
  parker_.clear_descriptor();
}

}  // namespace heist
