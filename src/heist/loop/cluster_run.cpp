// An agent of a cluster: how it picks, sleeps, and keeps the delays.
#include <utility>

#include "cluster_hub.hpp"
#include "signal_core.hpp"
#include "spin_until.hpp"

namespace heist {

void LoopCore::end_search_in_cluster() noexcept { member_.hub->end_search(*this); }

void ClusterHub::end_search(LoopCore& agent) noexcept {
  agent.member_.searching = false;
  const bool others_sleep = sleepers_.idle().end_search();
  if (!others_sleep) return;
  if (queues_.has_tasks(agent.member_.index) || loop_.inbox_.has_posts_by_now()) {
    sleepers_.notify();
  }
  notify_watcher(keeper_.next_due());
}

LoopNode* ClusterHub::take_late(LoopCore& agent, std::chrono::nanoseconds now,
                                std::chrono::nanoseconds limit) noexcept {
  for (;;) {
    LoopNode* node = queues_.take_late(agent.member_.index, longest_waits_,
                                       static_cast<std::uint64_t>(now.count()),
                                       static_cast<std::uint64_t>(limit.count()));
    if (node == nullptr || may_run(*node)) return node;
    if (!agent.may_pass_more()) return nullptr;
  }
}

// Delays.

bool ClusterHub::needs_keeper() const noexcept {
  if (loop_.inbox_.has_posts_by_now()) return true;
  const Keeper::Due due = keeper_.next_due();
  return due != Keeper::never && due <= loop_.time_.tick_now();
}

bool ClusterHub::wants_keeper() const noexcept { return needs_keeper() && !keeper_.has_keeper(); }

/// What comes meanwhile is for this agent's next pick, or for whoever is free until then: it is not kept from its tasks.
SchedulerTask* ClusterHub::keep(LoopCore& agent) noexcept {
  if (!keeper_.try_begin()) return nullptr;
  auto& state = *loop_.agent_;
  take_over();
  if (keeps_more()) {
    state.keeping.go_on(loop_.time_, [this] {
      take_over();
      return keeps_more();
    });
  }
  hand_on(agent);
  SchedulerTask* const limit = take_limit(agent);
  // relaxed: the keeper's announcement of sleep publishes it.
  holds_delayed_.store(state.held_tasks != 0, sync::relaxed);
  const bool goes_on = keeps_more() || !state.limits.empty();
  keeper_.end(goes_on ? now_due : state.delays.next_expiry());
  notify_watcher(needs_keeper() ? now_due : keeper_.next_due());
  drop_if_left();
  return limit;
}

/// The keeper takes one limit at a time, and runs it at once: while its listeners run, others take
/// those that ended later.
SchedulerTask* ClusterHub::take_limit(LoopCore& agent) noexcept {
  auto& limits = loop_.agent_->limits;
  return !limits.empty() && agent.may_pick_limit() ? &limits.pop() : nullptr;
}

/// The keeper: what has arrived goes into the wheel, what is due to the queues, and what was aborted leaves; of each a
/// portion.
void ClusterHub::take_over() noexcept {
  const Keeping keeping(loop_);
  loop_.assert_agent();
  loop_.arm_limits();
  arrive_some();
  loop_.take_aborts(keeper_portion);
  withdraw_some();
  sweep_held();
  loop_.expire_timers(due_portion);
}

/// The keeper: whether a portion was not enough.
bool ClusterHub::keeps_more() const noexcept {
  const auto& state = *loop_.agent_;
  return !arriving_.empty() || state.may_have_limits_to_arm || state.may_have_aborts ||
         first_to_withdraw() != nullptr || sweeps_held_;
}

/// The keeper: takes the inbox, turns it round, and goes through it, so many nodes at a time.
void ClusterHub::arrive_some() noexcept {
  loop_.assert_agent();
  if (arriving_.empty()) arriving_ = loop_.inbox_.take_nodes();
  arriving_.arrive_some(turned_portion, keeper_portion, [this](LoopNode& node) noexcept {
    loop_.assert_agent();
    loop_.arrive(node);
  });
}

/// The keeper: the first aborted task that it has not looked for in the wheel yet.
Registration* ClusterHub::first_to_withdraw() const noexcept {
  return last_withdrawn_ != nullptr ? last_withdrawn_->chain : loop_.agent_->reap;
}

/// The keeper, before the callbacks of these go: a signal's queues may go with its task's callback, and it would come due in
/// one of them.
void ClusterHub::withdraw_some() noexcept {
  loop_.assert_agent();
  Registration* const first = first_to_withdraw();
  Registration* at = first;
  for (unsigned left = keeper_portion; at != nullptr && left > 0; --left, at = at->chain) {
    auto& task = *static_cast<ControlledTask*>(at);
    task.is_withdrawn = loop_.withdraw(task);
    last_withdrawn_ = &task;
  }
  count_aborts(first, at);
}

void ClusterHub::publish_expired(SchedulerTask& task) noexcept {
  if (task.is_aborted()) {
    loop_.assert_agent();
    return loop_.discard(task);
  }
  task.place = TaskPlace::elsewhere;
  stamp(task);
  publish_runnable(task);
}

/// The keeper: what runs users' code becomes the agent's, who sees to it before it sleeps.
void ClusterHub::hand_on(LoopCore& agent) noexcept {
  auto& from = *loop_.agent_;
  auto& to = agent.on_agent();
  while (SchedulerTask* task = from.discarded.front()) {
    from.discarded.pop_front();
    to.discarded.push_back(*task);
  }
  if (ControlledTask* last = std::exchange(last_withdrawn_, nullptr)) {
    auto* rest = static_cast<ControlledTask*>(last->chain);
    last->chain = std::exchange(to.reap, std::exchange(from.reap, rest));
    if (last->chain == nullptr) to.reap_tail = last;
  }
  while (SignalLoop* part = from.released) {
    from.released = std::exchange(part->next_released, to.released);
    to.released = part;
    to.has_leftovers = true;
  }
}

// Sleeping.

bool ClusterHub::has_work(LoopCore& agent) noexcept {
  return agent.has_work() || queues_.may_have_tasks() || wants_keeper();
}

void ClusterHub::park(LoopCore& agent, std::optional<LoopTime::Clock::time_point> limit) noexcept {
  agent.member_.is_reserve ? park_reserve(agent, limit) : park_among_all(agent, limit);
}

void ClusterHub::park_among_all(LoopCore& agent,
                                std::optional<LoopTime::Clock::time_point> limit) noexcept {
  auto& member = agent.member_;
  agent.forget_rethrown();
  if (!std::exchange(member.searching, true)) sleepers_.idle().begin_search();
  bool saw_work = false;
  spin_until(agent.spin_, loop_, limit, [&] {
    agent.assert_agent();
    if (member.is_reserve && reserves_.has_surplus()) return true;
    saw_work = has_work(agent);
    // relaxed: seen in time. Who drains waits until all sleep.
    return saw_work || loop_.refuses_tasks_.load(sync::relaxed);
  });
  // Also when another agent has taken it since: this one goes on waiting as before.
  if (saw_work || has_work(agent)) return;
  agent.parker_.prepare();
  agent.count_sleep();
  if (announce_sleep(agent)) wait(agent, limit);
  static_cast<void>(sleepers_.idle().wake(member.index));
}

/// Before it says that it sleeps.
void ClusterHub::note_what_is_left(LoopCore& agent) noexcept {
  auto& member = agent.member_;
  // relaxed, both: what says that it sleeps publishes them.
  member.next_due.store(agent.on_agent().delays.next_expiry(), sync::relaxed);
  member.holds.store(agent.on_agent().held_tasks != 0, sync::relaxed);
}

/// False: there may be something to do.
bool ClusterHub::announce_sleep(LoopCore& agent) noexcept {
  const unsigned index = agent.member_.index;
  note_what_is_left(agent);
  sleepers_.idle().announce(index);
  note_sleep();
  return !queues_.has_tasks(index) && !wants_keeper() && agent.inbox_.try_sleep();
}

void ClusterHub::wait(LoopCore& agent, std::optional<LoopTime::Clock::time_point> limit) noexcept {
  auto deadline = agent.next_deadline();
  if (limit && (!deadline || *limit < *deadline)) deadline = limit;
  const Keeper::Due until = keeper_.next_due();
  // A keeper at work looks for a watcher when it has done.
  const bool watches = until != Keeper::never && !keeper_.has_keeper() &&
                       keeper_.try_watch(agent.member_.index, until);
  if (watches) {
    const auto first = loop_.time_.steady_start_of(until);
    if (first && (!deadline || *first < *deadline)) deadline = first;
  }
  const bool overtaken = watches && (wants_keeper() || keeper_.next_due() < until);
  if (!overtaken) agent.sleep_until(deadline);
  static_cast<void>(agent.inbox_.cancel_sleep());
  if (watches) keeper_.stop_watching();
}

void ClusterHub::note_sleep() noexcept {
  if (is_awaited_.load(sync::edge("hub:await", sync::seq_cst)) == 0) return;
  quiet_.fetch_add(1, sync::edge("hub:sleep", sync::seq_cst));
  wake_all_on_word(quiet_);
}

}  // namespace heist
