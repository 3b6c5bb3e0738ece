// The agent's side of a loop: the hot path is run_next().
#include <heist/error.hpp>
#include <utility>

#include "../concurrent/rethrown.hpp"
#include "cluster_hub.hpp"
#include "driving.hpp"
#include "loop_core.hpp"
#include "signal_core.hpp"

namespace heist {

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

/// Null: what is to be run is bound, or there is nothing.
inline LoopNode* LoopCore::pick_stealable() noexcept {
  if (has_pick_policy_) [[unlikely]]
    return pick_stealable_by_policy();
  return member_.hub->pick(*this, on_agent().queues.top_level());
}

/// Null: the first one is not to run now, and has been set aside.   Precondition: there is one.
inline SchedulerTask* LoopCore::try_pick() noexcept {
  auto& agent = on_agent();
  SchedulerTask* task = has_pick_policy_ ? pop_by_policy() : agent.queues.pop();
  if (task->is_aborted()) {
    discard(*task);
  } else if (agent.suspended_schedulers != 0 && task->scheduler->suspended) [[unlikely]] {
    hold(*task);
  } else {
    return task;
  }
  agent.continuations.forget_pick();
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
  if (member_.is_reserve && !member_.hub->may_pick(*this)) return nullptr;
  if (member_.hub->wants_keeper()) member_.hub->keep(*this);
  for (;;) {
    LoopNode* node = pick_stealable();
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
  runs_.store(nullptr, sync::relaxed);  // relaxed: nothing is read on the strength of it.
}

/// Before the agent sleeps: users' code, too.
void LoopCore::forget_rethrown() noexcept {
  auto& agent = on_agent();
  if (!agent.rethrown) return;
  end_search();
  forget(agent.rethrown);
}

/// A continuation, or the rest of a task that forked.
void LoopCore::run_rest(LoopNode& node) noexcept {
  if (node.ops->kind == LoopNodeKind::forked) {
    node.ops->run(node, *this);  // says itself what it is a part of
  } else {
    say_what_runs(&node);
    run_reaction(static_cast<Reaction&>(node));
  }
  end_task();
}

/// False: an abort came before the start, nothing ran.
inline bool LoopCore::run_picked(LoopNode& node) noexcept {
  end_search();
  if (node.ops->kind == LoopNodeKind::task) return run_task(static_cast<SchedulerTask&>(node));
  run_rest(node);
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
  say_what_runs(&task);
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
  end_search();  // what comes next, a close or the driver's own code, looks for nothing
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

}  // namespace heist
