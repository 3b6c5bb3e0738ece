// The agent's side of a loop: the hot path is run_next().
#include <utility>

#include "../concurrent/rethrown.hpp"
#include "loop_core.hpp"
#include "spin_until.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

/// Cost: one branch, where && has one for each.
template <class... Bools>
constexpr bool all(Bools... conditions) noexcept {
  return (conditions & ...);
}

/// Picks one of the loop's own tasks; null when none is left, or when the pick goes on later.
inline SchedulerTask* pick(LoopCore& loop) noexcept HEIST_ON_AGENT {
  while (!loop.on_agent().queues.empty()) {
    if (SchedulerTask* task = loop.on_agent().try_pick(loop.aborted())) return task;
    if (!loop.on_agent().may_pass_more()) break;
  }
  return nullptr;
}

inline SchedulerTask* pick_limit(LoopCore& loop) noexcept HEIST_ON_AGENT {
  auto& limits = loop.on_agent().waiting.limits();
  return !limits.empty() && limits.begin_pick(loop.counts().run()) ? &limits.pop() : nullptr;
}

/// What was sent here has arrived in part: a limit of the cluster, for which that was interrupted.
inline SchedulerTask* pick_limit_of_cluster(LoopCore& loop) noexcept HEIST_ON_AGENT {
  const bool is_interrupted = loop.has_leftovers() && loop.membership() != nullptr;
  return is_interrupted ? loop.membership()->keep_delays() : nullptr;
}

[[gnu::noinline]] SchedulerTask* pick_limit_of_any(LoopCore& loop) noexcept HEIST_ON_AGENT {
  if (loop.may_have_limits()) {
    const bool is_first = loop.has_messages() && loop.arrivals().limit_is_first();
    if (SchedulerTask* limit = is_first ? pick_limit(loop) : nullptr) return limit;
  }
  return pick_limit_of_cluster(loop);
}

/// A limit that has ended does not wait until all that was sent here has been taken. Returns null
/// when there is none, or nothing to take before it.
inline SchedulerTask* pick_limit_before_inbox(LoopCore& loop) noexcept HEIST_ON_AGENT {
  if (!loop.may_have_limits() && !loop.has_leftovers()) [[likely]]
    return nullptr;
  return pick_limit_of_any(loop);
}

/// Takes what was sent here. Returns false when a time limit comes first, and something is left.
inline bool drain_until_limit(LoopCore& loop) noexcept HEIST_ON_AGENT {
  return !loop.has_messages() || loop.arrivals().drain_until_limit();
}

void run_reaction(LoopCore& loop, Reaction& reaction) noexcept HEIST_ON_AGENT {
  auto& agent = loop.on_agent();
  // The state is kept here, as the reaction may be gone before its continuation is done with it.
  const CapturedState captured = std::move(reaction.captured);
  const auto home = std::move(reaction.home);
  agent.current = captured.state();
  reaction.ops->run(reaction, loop);
  agent.current = {};
}

inline void end_task(LoopCore& loop) noexcept HEIST_ON_AGENT {
  auto& agent = loop.on_agent();
  agent.current = {};
  loop.microtask_checkpoint();
  if (agent.rethrown) [[unlikely]] {
    forget(agent.rethrown);
    loop.microtask_checkpoint();  // what an exception's destructor has queued
  }
  loop.counts().activity().say_moves();
}

/// Returns false when an abort came before the start, so that nothing ran.
inline bool run_task(LoopCore& loop, SchedulerTask& task) noexcept HEIST_ON_AGENT {
  auto& agent = loop.on_agent();
  const bool may_not_start = task.has_control;
  if (may_not_start) {
    loop.running_task().publish(ControlledTask::of(task));  // its state is set when it has started
  } else {
    agent.current = {.scheduler = task.scheduler, .priority = task.priority};
    loop.counts().count_run();
    loop.counts().activity().say_runs(&task);
  }
  task.ops->run(task, loop);
  end_task(loop);
  return !may_not_start || !std::exchange(agent.not_started, false);
}

/// Runs a time limit: its signal's listeners are users' code, as tasks are.
inline bool run_limit(LoopCore& loop, SchedulerTask& limit) noexcept HEIST_ON_AGENT {
  loop.end_search();
  return run_task(loop, limit);
}

/// Runs a stealable continuation, or the rest of a task that forked. It is a function of its own,
/// as the way of tasks is shorter without it.
[[gnu::noinline]] void run_continuation(LoopCore& loop, LoopNode& node) noexcept HEIST_ON_AGENT {
  loop.on_agent().waiting.limits().end_row();
  if (node.ops->kind == LoopNodeKind::forked) {
    node.ops->run(node, loop);  // says itself what it is a part of
  } else {
    loop.counts().activity().say_runs_uncounted(&node);
    run_reaction(loop, static_cast<Reaction&>(node));
  }
  end_task(loop);
}

/// Runs what Membership has picked. Returns false when an abort came before the start, so that
/// nothing ran.
inline bool run_picked(LoopCore& loop, LoopNode& node) noexcept HEIST_ON_AGENT {
  loop.end_search();
  if (node.ops->kind == LoopNodeKind::task)
    return run_task(loop, static_cast<SchedulerTask&>(node));
  run_continuation(loop, node);
  return true;
}

}  // namespace

/// Whether collect_work() may have something to do, or a time limit has ended. Most picks have not.
inline bool LoopCore::has_news() noexcept {
  auto& agent = on_agent();
  const bool quiet =
      all(aborted().empty(), !has_leftovers(), !agent.goes_on, agent.microtasks.empty(),
          agent.waiting.delays().empty(), agent.waiting.limits().empty());
  // relaxed: the exchange in collect_work() orders it.
  return !quiet || inbox().has_posts() || recheck_.load(sync::relaxed);
}

void LoopCore::forget_rethrown() noexcept {
  auto& agent = on_agent();
  if (!agent.rethrown) return;
  end_search();
  forget(agent.rethrown);
}

bool LoopCore::run_next(bool heed_stop) noexcept {
  for (;;) {
    if (has_news()) {
      if (SchedulerTask* limit = pick_limit_before_inbox(*this)) return run_limit(*this, *limit);
      if (!collect_work()) continue;
      if (heed_stop && on_agent().stop_requested) return false;
      if (SchedulerTask* limit = pick_limit(*this)) return run_limit(*this, *limit);
    }
    if (heed_stop && on_agent().stop_requested) return false;
    if (membership_ != nullptr) {
      if (LoopNode* node = membership_->pick()) {
        if (run_picked(*this, *node)) return true;
        continue;
      }
    } else if (SchedulerTask* task = pick(*this)) {
      if (run_task(*this, *task)) return true;
      continue;
    }
    if (on_agent().goes_on) continue;
    on_agent().waiting.limits().end_row();
    if (!has_loose_ends()) {
      // (Clearing garbage away runs users' destructors, which may make something runnable.)
      return false;
    }
  }
}

void LoopCore::run_ended_limits() noexcept {
  auto& agent = on_agent();
  const AgentActivity::Moving moving(counts_.activity());
  const auto within = counts_.activity().said();
  agent.waiting.expire_limits();
  const auto take = [&]() noexcept -> SchedulerTask* {
    assert_agent();
    if (SchedulerTask* limit = pick_limit(*this)) return limit;
    return membership_ != nullptr ? membership_->keep_delays() : nullptr;
  };
  while (SchedulerTask* limit = take()) {
    static_cast<void>(run_task(*this, *limit));
    counts_.activity().say_again(within);
  }
  agent.waiting.limits().end_row();
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
  if (!drain_until_limit(*this)) return false;
  // Both run users' code, and this pick has to see what that posts and re-prioritises.
  const bool is_new_pick = !std::exchange(agent.goes_on, false);
  if (is_new_pick && !aborted().empty()) {
    reap_for_a_while();
    if (!drain_until_limit(*this)) return false;
  }
  if (!agent.microtasks.empty()) {
    microtask_checkpoint();
    if (!drain_until_limit(*this)) return false;
  }
  if (!agent.waiting.delays().empty()) agent.end_delays();
  // Rare: a priority message was on its way while its sender had to return (D1 of SignalPort).
  // relaxed: the exchange orders it.
  if (recheck_.load(sync::relaxed) &&
      recheck_.exchange(false, sync::edge("recheck:take", sync::seq_cst))) {
    agent.refresh_priorities();
  }
  return true;
}

bool LoopCore::has_loose_ends() noexcept {
  const auto& agent = on_agent();
  return !aborted().empty() || has_messages() || !agent.microtasks.empty() ||
         !agent.waiting.limits().empty();
}

void LoopCore::push_microtask(Reaction& reaction) noexcept {
  take_inbox();  // what others delivered before goes first
  on_agent().microtasks.push(reaction);
}

/// The thread may drive another loop, in a task of this one.
void LoopCore::give_to_cluster() noexcept {
  MicrotaskQueue& all = agent_->microtasks;
  MicrotaskQueue own;
  while (!all.empty()) {
    auto& reaction = static_cast<Reaction&>(all.pop());
    Ref<TaskHome> home = std::move(reaction.home);
    if (home.get() != nullptr && is_member_of(*home) && home->deliver(reaction)) continue;
    reaction.home = std::move(home);
    own.push(reaction);
  }
  all = own;
}

void LoopCore::run_microtasks() noexcept {
  auto& agent = on_agent();
  if (agent.in_checkpoint) return;
  end_search();
  agent.in_checkpoint = true;
  while (!agent.microtasks.empty()) {
    run_reaction(*this, static_cast<Reaction&>(agent.microtasks.pop()));
  }
  agent.in_checkpoint = false;
}

// Sleeping.

bool LoopCore::has_work() noexcept {
  const auto& agent = on_agent();
  return has_loose_ends() || !agent.queues.empty() || agent.waiting.has_due_delay();
}

bool LoopCore::has_more_urgent(int level) noexcept {
  const auto& agent = on_agent();
  const bool looks = has_loose_ends() || agent.waiting.has_due_delay();
  const bool cluster_looks = membership_ != nullptr && membership_->has_more_urgent(level);
  return looks || cluster_looks || agent.queues.top_level() > level;
}

void LoopCore::park(std::optional<LoopTime::Clock::time_point> limit) noexcept {
  if (membership_ != nullptr) return membership_->park(limit);
  spin_until(sleep_.spin(), *this, limit, [this] {
    assert_agent();
    return has_work();
  });
  forget_rethrown();
  if (has_work()) return;  // also what an exception's destructor has posted
  sleep_.prepare();
  if (!sleep_.announce()) return;
  sleep_.count_one();
  auto deadline = on_agent().waiting.next_deadline();
  if (limit && (!deadline || *limit < *deadline)) deadline = limit;
  sleep_.until(deadline, counts_.activity());
  sleep_.end();
}

}  // namespace HEIST_NAMESPACE::detail
