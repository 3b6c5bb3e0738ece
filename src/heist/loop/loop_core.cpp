// One event loop: how it is posted to, and how its agent runs it. The hot path is run_next().
#include "loop_core.hpp"

#include <heist/detail/labelled_node.hpp>
#include <utility>

#include "../concurrent/rethrown.hpp"
#include "drive_scope.hpp"
#include "limit_pick.hpp"
#include "loop_options.hpp"
#include "spin_until.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

/// Whether the caller is a task of this loop, or of its cluster. A loop nested in one of those is
/// still that task.
bool is_task_of(const LoopCore& loop) noexcept {
  if (drives_here(&loop)) return true;
  const Membership* membership = loop.membership();
  return membership != nullptr && drives_member_here(membership->cluster());
}

/// Cost: one branch, where && has one for each.
template <class... Bools>
constexpr bool all(Bools... conditions) noexcept {
  return (conditions & ...);
}

/// Picks one of the loop's own tasks; null when none is left, or when the pick goes on later.
inline SchedulerTask* pick(LoopCore& loop) noexcept HEIST_ON_AGENT {
  while (!loop.on_agent().queues.empty()) {
    if (SchedulerTask* task = loop.on_agent().try_pick()) return task;
    if (!loop.on_agent().may_pass_more()) break;
  }
  return nullptr;
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
  agent.change_current(captured.state());
  reaction.ops->run(reaction, loop);
  agent.change_current({});
}

inline void end_task(LoopCore& loop) noexcept HEIST_ON_AGENT {
  auto& agent = loop.on_agent();
  agent.current = {};
  loop.microtask_checkpoint();
  if (agent.rethrown) [[unlikely]] {
    forget(agent.rethrown);
    loop.microtask_checkpoint();  // what an exception's destructor has queued
  }
  loop.end_if_measured();
  loop.counts().activity().say_moves();
}

/// Returns false when an abort or a close came before the start, so that nothing ran.
inline bool run_task(LoopCore& loop, SchedulerTask& task) noexcept HEIST_ON_AGENT {
  auto& agent = loop.on_agent();
  assert(!agent.look.holds && "a look is of the task that has looked");
  const bool may_not_start = task.has_control;
  if (!may_not_start) {  // the others do this themselves, once they have started
    agent.current = {.scheduler = task.scheduler, .priority = task.priority};
    loop.begin_task(task);
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
  assert(!loop.on_agent().look.holds && "a look is of the task that has looked");
  loop.on_agent().waiting.limits().end_row();
  loop.begin_continuation(node);
  if (node.ops->kind == LoopNodeKind::forked) {
    node.ops->run(node, loop);  // says itself what it is a part of
  } else {
    loop.counts().activity().say_runs_uncounted(&node);
    run_reaction(loop, static_cast<Reaction&>(node));
  }
  end_task(loop);
}

/// Runs what Membership has picked. Returns false when an abort or a close came before the start,
/// so that nothing ran.
inline bool run_picked(LoopCore& loop, LoopNode& node) noexcept HEIST_ON_AGENT {
  loop.end_search();
  if (node.ops->kind == LoopNodeKind::task)
    return run_task(loop, static_cast<SchedulerTask&>(node));
  run_continuation(loop, node);
  return true;
}

}  // namespace

LoopCore::LoopCore(const EventLoopOptions& options)
    : TaskHome(options),
      sleep_(inbox(), options.spin, sampling().clock()),
      agent_(std::make_unique<AgentState>(options, time(), aborted())) {
  set_waiting(&agent_->waiting);
  show_words();
}

LoopCore::~LoopCore() = default;

Ref<LoopCore> LoopCore::make(const EventLoopOptions& options) {
  return Ref<LoopCore>::adopt(new LoopCore(checked_options(options)));
}

void retain(LoopCore& core) noexcept { retain(static_cast<TaskHome&>(core)); }

void release(LoopCore& core) noexcept { release(static_cast<TaskHome&>(core)); }

void LoopCore::join(std::unique_ptr<Membership> membership) noexcept {
  membership_ = std::move(membership);
  agent_->policy.follow(membership_->cluster().time());
  membership_->show_words(agent_->look);
}

void LoopCore::free_agent_state() noexcept {
  each_scheduler([](SchedulerCore& scheduler) { scheduler.delays.reset(); });
  set_waiting(nullptr);
  agent_.reset();
  sleep_.parker().close_descriptor();
}

SchedulerCore& LoopCore::add_scheduler() {
  return *more_schedulers_.emplace_back(std::make_unique<SchedulerCore>(*this));
}

bool LoopCore::post_in_turn(SchedulerTask& task) noexcept {
  if (!on_agent().accepts_posts) return false;
  note_posted(task);
  on_agent().enqueue(task);
  on_agent().look.forget();
  return true;
}

inline bool LoopCore::post_from_agent(SchedulerTask& task) noexcept {
  if (!on_agent().accepts_posts) return false;
  if (has_messages()) [[unlikely]]
    return post_behind_inbox(task);
  on_agent().enqueue(task);
  return true;
}

/// What was posted before is older (I2). It is a function of its own, as the way of other posts is
/// shorter without it.
[[gnu::noinline]] bool LoopCore::post_behind_inbox(SchedulerTask& task) noexcept {
  AgentState& agent = on_agent();
  arrivals_.drain();
  agent.enqueue(task);
  return true;
}

bool LoopCore::post(SchedulerTask& task) noexcept {
  if (loop_of_this_thread == this) return post_from_agent(task);
  if (refuses_tasks()) [[unlikely]]
    return post_as_task(task);
  return post_node(task);
}

bool LoopCore::post_as_task(LoopNode& node) noexcept {
  if (refuses_tasks() && !is_task_of(*this)) return false;
  return post_node(node);
}

bool LoopCore::post_or_drop(SchedulerTask& task) noexcept {
  const bool posted = post(task);
  if (!posted) {
    if (!task.has_control) sampling().forget(task);
    task.ops->drop(task);
  }
  return posted;
}

bool LoopCore::post_limit(SchedulerTask& limit, Inbox::Below& below) noexcept {
  if (loop_of_this_thread == this) return post_from_agent(limit);
  if (refuses_tasks() && !is_task_of(*this)) return false;
  return send_limit(limit, below,
                    [this](LoopNode& notice) { static_cast<void>(post_node(notice)); });
}

bool LoopCore::deliver(Reaction& reaction) noexcept { return post_node(reaction); }

bool LoopCore::post_node(LoopNode& node) noexcept {
  const auto result = inbox().post(node);
  if (result == Inbox::PostResult::wake) sleep_.wake_up();
  return result != Inbox::PostResult::closed;
}

void LoopCore::send(LoopNode& message) noexcept {
  if (!post_node(message)) drop_undeliverable(message);
}

void LoopCore::request_recheck() noexcept {
  recheck_.store(1, sync::edge("recheck:request", sync::seq_cst));
}

void LoopCore::take_priority_change(SignalPort& port) noexcept {
  on_agent().refresh_priority(port);
}

// How the agent runs it.

/// Whether collect_work() may have something to do, or a time limit has ended. Most picks have not.
inline bool LoopCore::has_news() noexcept {
  auto& agent = on_agent();
  const bool quiet = all(aborted().empty(), !has_leftovers(), !agent.goes_on,
                         agent.microtasks.empty(), agent.waiting.limits().empty());
  // relaxed: the exchange in collect_work() orders it.
  return !quiet || inbox().has_posts() || recheck_.load(sync::relaxed) != 0 ||
         agent.waiting.has_due_delay();
}

void LoopCore::forget_rethrown() noexcept {
  auto& agent = on_agent();
  if (!agent.rethrown) return;
  end_search();
  forget(agent.rethrown);
}

/// The body of run_next(). It is a part of the loops below, as a call for each task costs a tenth
/// of a short one.
[[gnu::always_inline]] inline bool LoopCore::step(bool heed_stop) noexcept {
  for (;;) {
    if (has_news()) {
      forget_look();
      if (heed_stop && stop_request_.is_due()) return false;
      if (SchedulerTask* limit = pick_limit_before_inbox(*this)) return run_limit(*this, *limit);
      if (!collect_work()) continue;
      if (heed_stop && stop_request_.is_due()) return false;
      if (SchedulerTask* limit = pick_limit(*this)) return run_limit(*this, *limit);
    }
    if (heed_stop && stop_request_.is_due()) return false;
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

bool LoopCore::run_next(bool heed_stop) noexcept { return step(heed_stop); }

std::size_t LoopCore::run_all() noexcept {
  std::size_t ran = 0;
  while (step(false)) ++ran;
  return ran;
}

void LoopCore::run_ended_limits() noexcept {
  auto& agent = on_agent();
  forget_look();
  const AgentActivity::Moving moving(counts_.activity());
  const auto within = counts_.activity().said();
  const AgentTimes::Within measured(times_);
  agent.waiting.expire_limits();
  const auto take = [&]() noexcept -> SchedulerTask* {
    assert_agent();
    if (SchedulerTask* limit = pick_limit(*this)) return limit;
    return membership_ != nullptr ? membership_->keep_delays() : nullptr;
  };
  while (SchedulerTask* limit = take()) {
    static_cast<void>(run_task(*this, *limit));
    forget_look();  // a listener may have looked
    counts_.activity().say_again(within);
  }
  agent.waiting.limits().end_row();
}

void LoopCore::run() noexcept {
  constexpr bool heed_stop = true;
  while (!stop_request_.is_due()) {
    if (sleep_.host().has_host()) [[unlikely]] {
      run_beside_host();
    } else {
      while (step(heed_stop)) {
      }
    }
    if (!on_agent().accepts_posts) break;
    if (!stop_request_.is_due()) park();
  }
  end_search();  // what comes next, a close or the driver's own code, looks for nothing
  stop_request_.end();
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
  take_recheck();
  return true;
}

/// Rare: a priority message was on its way while its sender had to return, or there was none to
/// send (D1 of PortExtras), or a trace has begun or ended.
void LoopCore::take_recheck() noexcept {
  // relaxed: the exchange orders it.
  if (recheck_.load(sync::relaxed) != 0 &&
      recheck_.exchange(0, sync::edge("recheck:take", sync::seq_cst)) != 0) {
    on_agent().refresh_priorities();
    is_traced_ = Tracing::is_on();
  }
}

bool LoopCore::collect_made() noexcept {
  if (!drain_until_limit(*this)) return false;
  if (on_agent().microtasks.empty()) return true;
  microtask_checkpoint();
  return drain_until_limit(*this);
}

bool LoopCore::has_loose_ends() noexcept {
  forget_look();
  const auto& agent = on_agent();
  return !aborted().empty() || has_messages() || !agent.microtasks.empty() ||
         !agent.waiting.limits().empty();
}

void LoopCore::end_callback() noexcept {
  assert_agent();
  microtask_checkpoint();
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
  auto& agent = on_agent();
  return has_loose_ends() || !agent.queues.empty() || agent.waiting.has_due_delay();
}

bool LoopCore::has_more_urgent(int level) noexcept {
  auto& agent = on_agent();
  // relaxed: the pick that follows reads it again.
  const bool looks =
      has_loose_ends() || agent.waiting.has_due_delay() || recheck_.load(sync::relaxed) != 0;
  const bool cluster_looks = membership_ != nullptr && membership_->has_more_urgent(level);
  return looks || cluster_looks || agent.queues.top_level() > level;
}

void LoopCore::park(std::optional<LoopTime::Clock::time_point> limit) noexcept {
  if (membership_ != nullptr) return membership_->park(limit);
  bool host_had_turn = false;
  spin_until(sleep_, *this, limit, [&] {
    assert_agent();
    return has_work() || (host_had_turn = poll_host_if_due());
  });
  if (host_had_turn) return;
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

void LoopCore::release_held(SchedulerCore& scheduler) noexcept {
  on_agent().release_held(scheduler);
}

}  // namespace HEIST_NAMESPACE::detail
