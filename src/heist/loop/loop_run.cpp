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
  loop.activity_.say_moves();
}

Driving::~Driving() {
  Reason forgotten = std::exchange(loop_.agent_->rethrown, {});
  rethrown = nullptr;
  loop_.activity_.say_rests();
  loop_of_this_thread = loop_.outer_loop_;
  loop_.driven_.store(false, sync::edge("drive:leave", sync::release));
  forget(forgotten);  // its destructor may use the loop
  rethrown = outer_rethrown_;
}

/// Whether collect_work() may have something to do, or a time limit has ended. Most picks have not.
inline bool LoopCore::has_news() noexcept {
  auto& agent = on_agent();
  const bool quiet = agent.reap == nullptr && agent.discarded.empty() && !agent.may_have_aborts &&
                     !agent.goes_on && !agent.has_leftovers && agent.microtasks.empty() &&
                     agent.delays.empty() && agent.limits.empty();
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
    if (!may_pass_more()) break;
  }
  return nullptr;
}

/// Of all agents' time limits, tasks and continuations and this loop's own.
LoopNode* LoopCore::pick_in_cluster() noexcept {
  auto& agent = on_agent();
  if (member_.is_reserve && !member_.hub->may_pick(*this)) return nullptr;
  if (member_.hub->wants_keeper()) {
    if (SchedulerTask* limit = member_.hub->keep(*this)) return limit;
  }
  if (member_.hub->wants_sweep()) [[unlikely]]
    member_.hub->sweep_some(*this);
  for (;;) {
    LoopNode* node = pick_stealable();
    if (node == nullptr) {
      if (agent.goes_on || agent.queues.empty()) return nullptr;
      if (SchedulerTask* task = try_pick()) return task;
    } else {
      if (node->ops->kind != LoopNodeKind::task) return node;
      auto& task = static_cast<SchedulerTask&>(*node);
      if (!task.is_aborted()) return node;
      agent.discarded.push_back(task);
    }
    if (!may_pass_more()) return nullptr;  // else again: what comes next may be of a lower level
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
  activity_.say_moves();
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
  on_agent().limits.end_row();
  if (node.ops->kind == LoopNodeKind::forked) {
    node.ops->run(node, *this);  // says itself what it is a part of
  } else {
    activity_.say_runs_uncounted(&node);
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
    activity_.say_runs(&task);
  }
  task.ops->run(task, *this);
  end_task();
  return !may_not_start || !std::exchange(agent.not_started, false);
}

inline bool LoopCore::may_have_limits() noexcept {
  const auto& agent = on_agent();
  return agent.delays.has_limits() || !agent.limits.empty() || limits_to_arm_.has_posts() ||
         limits_to_arm_.has_left();
}

/// Whether a limit has ended that does not wait until all that was sent here has been taken.
bool LoopCore::limit_is_first() noexcept {
  auto& agent = on_agent();
  // relaxed: a stop that is asked for later may come after this task.
  if (!may_have_limits() || stop_sent_.load(sync::relaxed)) return false;
  if (agent.limits.empty()) arm_limits();  // those that have ended do not wait for it
  expire_limits();
  return !agent.limits.empty() && agent.limits.may_pick(tasks_run_);
}

/// Null: there is none, or nothing to take before it.
inline SchedulerTask* LoopCore::pick_limit_before_inbox() noexcept {
  if (!may_have_limits()) [[likely]]
    return nullptr;
  return has_messages() && limit_is_first() ? pick_limit() : nullptr;
}

bool LoopCore::run_next(bool heed_stop) noexcept {
  for (;;) {
    if (has_news()) {
      if (SchedulerTask* limit = pick_limit_before_inbox()) return run_task(*limit);
      if (!collect_work()) continue;
      if (heed_stop && on_agent().stop_requested) return false;
      if (SchedulerTask* limit = pick_limit()) return run_task(*limit);
    }
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
    if (on_agent().goes_on) continue;
    on_agent().limits.end_row();
    if (!has_loose_ends()) {
      // (Clearing garbage away runs users' destructors, which may make something runnable.)
      return false;
    }
  }
}

void LoopCore::run_ended_limits() noexcept {
  auto& agent = on_agent();
  const AgentActivity::Moving moving(activity_);
  const auto within = activity_.said();
  expire_limits();
  const auto take = [&]() noexcept -> SchedulerTask* {
    assert_agent();
    if (SchedulerTask* limit = pick_limit()) return limit;
    const bool keeps = member_.hub != nullptr && member_.hub->wants_keeper();
    return keeps ? member_.hub->keep(*this) : nullptr;
  };
  while (SchedulerTask* limit = take()) {
    static_cast<void>(run_task(*limit));
    activity_.say_again(within);
  }
  agent.limits.end_row();
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

bool LoopCore::collect_work() noexcept {
  auto& agent = on_agent();
  if (!drain_until_limit()) return false;
  // Both run users' code: this pick goes by what that posts and re-prioritises, too.
  const bool is_new_pick = !std::exchange(agent.goes_on, false);
  if (is_new_pick && has_garbage()) {
    reap_for_a_while();
    if (!drain_until_limit()) return false;
  }
  if (!agent.microtasks.empty()) {
    microtask_checkpoint();
    if (!drain_until_limit()) return false;
  }
  if (!agent.delays.empty()) expire_timers();
  if (recheck_.load(sync::relaxed)) recheck_priorities();  // relaxed: the exchange there orders it.
  return true;
}

bool LoopCore::has_loose_ends() noexcept {
  auto& agent = on_agent();
  return has_garbage() || inbox_.has_posts() || agent.has_leftovers || !agent.microtasks.empty() ||
         !agent.limits.empty();
}

bool LoopCore::has_garbage() noexcept {
  const auto& agent = on_agent();
  return agent.reap != nullptr || !agent.discarded.empty() || agent.may_have_aborts;
}

void LoopCore::drain_all() noexcept {
  take_inbox();
  if (on_agent().released == nullptr) return;
  release_signals();
  take_inbox();  // what the destructors posted and re-prioritised
}

bool LoopCore::drain_in_portions() noexcept {
  if (!arrive_until_limit()) return false;
  if (on_agent().released == nullptr) return true;
  release_signals();
  return arrive_until_limit();
}

/// What was left, then the inbox as it is now. False: a time limit comes first; the rest is left.
bool LoopCore::arrive_until_limit() noexcept {
  const AgentActivity::Moving moving(activity_);
  if (on_agent().has_leftovers) [[unlikely]] {
    TakenNodes left = inbox_.take_left();
    note_leftovers();
    if (!arrive_until_limit(left)) return false;
  }
  if (TakenNodes taken = inbox_.take_nodes(); LoopNode* only = taken.take_only()) {
    arrive(*only);
  } else if (!arrive_until_limit(taken)) {
    return false;
  }
  return !on_agent().may_have_limits_to_arm || arm_until_limit();
}

bool LoopCore::arrive_until_limit(TakenNodes& taken) noexcept {
  for (arrive_some(taken); !taken.empty(); arrive_some(taken)) {
    on_agent().limits.end_row();
    if (!limit_is_first()) continue;
    inbox_.leave(taken);
    note_leftovers();
    return false;
  }
  return true;
}

bool LoopCore::arm_until_limit() noexcept {
  for (; on_agent().may_have_limits_to_arm; arm_limits()) {
    on_agent().limits.end_row();
    if (limit_is_first()) return false;
  }
  return true;
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
