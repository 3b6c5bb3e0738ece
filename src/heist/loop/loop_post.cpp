// What any thread does to a loop, and how what it posts takes its place in line.
#include <heist/error.hpp>
#include <heist/node_memory.hpp>
#include <stdexcept>
#include <utility>

#include "../os/cpu_limit.hpp"
#include "cluster_hub.hpp"
#include "loop_core.hpp"
#include "signal_core.hpp"
#include "timeout_signal.hpp"

namespace heist {

namespace {

void check(const MaxWait& most) {
  for (const auto wait : {most.user_blocking, most.user_visible, most.background}) {
    if (wait == wait.zero()) continue;
    if (wait < std::chrono::milliseconds(1) || wait > std::chrono::hours(1)) {
      throw std::invalid_argument(
          "EventLoopOptions::max_wait must be zero, or from a millisecond to an hour, for each "
          "priority");
    }
  }
}

EventLoopOptions checked(const EventLoopOptions& options) {
  if (options.tick <= options.tick.zero() || options.tick > std::chrono::hours(1)) {
    throw std::invalid_argument("EventLoopOptions::tick must be positive, and an hour at the most");
  }
  if (options.spin < options.spin.zero() || options.spin > std::chrono::hours(1)) {
    throw std::invalid_argument(
        "EventLoopOptions::spin must not be negative, and an hour at the most");
  }
  if (options.continuation_cap < options.continuation_cap.zero() ||
      options.continuation_cap > std::chrono::hours(1)) {
    throw std::invalid_argument(
        "EventLoopOptions::continuation_cap must not be negative, and an hour at the most");
  }
  check(options.max_wait);
  return options;
}

}  // namespace

LoopCore::StopMessage::StopMessage() noexcept : LoopNode(table) {}

const LoopNodeOps LoopCore::StopMessage::table{LoopNodeKind::message, &take, &ignore};

void LoopCore::StopMessage::take(LoopNode& /*node*/, LoopCore& loop) noexcept {
  auto& agent = loop.on_agent();
  agent.stop_requested = agent.stop_taken = true;
}

void LoopCore::StopMessage::ignore(LoopNode& /*node*/) noexcept {}

LoopCore::LimitsMessage::LimitsMessage() noexcept : LoopNode(table) {}

const LoopNodeOps LoopCore::LimitsMessage::table{LoopNodeKind::message, &take, &ignore};

void LoopCore::LimitsMessage::take(LoopNode& /*node*/, LoopCore& loop) noexcept {
  loop.on_agent().may_have_limits_to_arm = true;
  loop.arm_limits();
}

void LoopCore::LimitsMessage::ignore(LoopNode& /*node*/) noexcept {}

LoopCore::AbortsMessage::AbortsMessage() noexcept : LoopNode(table) {}

const LoopNodeOps LoopCore::AbortsMessage::table{LoopNodeKind::message, &take, &ignore};

void LoopCore::AbortsMessage::take(LoopNode& /*node*/, LoopCore& loop) noexcept {
  loop.on_agent().may_have_aborts = true;
}

void LoopCore::AbortsMessage::ignore(LoopNode& /*node*/) noexcept {}

LoopCore::LoopCore(const EventLoopOptions& options)
    : time_(options.clock, options.tick),
      spin_(available_cpus() > 1 ? options.spin : std::chrono::nanoseconds::zero()),
      continuation_cap_(options.continuation_cap),
      has_pick_policy_(options.continuation_cap != options.continuation_cap.zero() ||
                       options.max_wait != MaxWait{}),
      agent_(std::make_unique<AgentState>()) {
  if (options.max_wait != MaxWait{}) agent_->guard.emplace(options.max_wait);
  static_cast<void>(aborts_.try_sleep());
  static_cast<void>(limits_to_arm_.try_sleep());
}

LoopCore::~LoopCore() = default;

Ref<LoopCore> LoopCore::make(const EventLoopOptions& options) {
  return Ref<LoopCore>::adopt(new LoopCore(checked(options)));
}

Ref<LoopCore> LoopCore::make_cluster(const EventLoopOptions& options,
                                     std::vector<Ref<LoopCore>> members, ReserveSetup reserves) {
  auto loop = make(options);
  loop->hub_ = std::make_unique<ClusterHub>(*loop, std::move(members), reserves, options.max_wait);
  return loop;
}

SchedulerCore& LoopCore::add_scheduler() {
  return *more_schedulers_.emplace_back(std::make_unique<SchedulerCore>(*this));
}

void retain(LoopCore& core) noexcept { core.shares_.add(); }

void release(LoopCore& core) noexcept {
  if (core.shares_.drop()) delete &core;
}

/// Keeps an aborted task until reap_one() disposes of it: that runs users' destructors.
void LoopCore::discard(SchedulerTask& task) noexcept {
  task.place = TaskPlace::discarded;
  on_agent().discarded.push_back(task);
}

/// A signal's priority says where the task stands, while it waits.
void LoopCore::enqueue_dynamic(ControlledTask& task) noexcept {
  auto& queue = dynamic_queue_of(task);
  const auto priority = queue.tasks.empty() ? priority_part_of(task).priority() : TaskPriority{};
  on_agent().queues.push(task, queue, effective_priority(priority, task.is_continuation));
}

/// The task takes its place in line now (ORD-4).
inline void LoopCore::enqueue_runnable(SchedulerTask& task) noexcept {
  auto& agent = on_agent();
  task.key = agent.next_enqueue_order++;
  task.is_dynamic ? enqueue_dynamic(ControlledTask::of(task)) : agent.queues.push(task);
}

inline void LoopCore::enqueue(SchedulerTask& task) noexcept {
  if (task.is_aborted()) return discard(task);
  if (!task.is_delayed) return enqueue_runnable(task);
  if (task.is_time_limit && !TimeoutSignal::take_up(task)) return;  // it is gone
  if (task.scheduler->delays) return arm_by_scheduler(task);
  task.place = TaskPlace::delayed;
  on_agent().delays.arm(task, time_.tick_from(task.key));
}

/// Its delay is over.
void LoopCore::become_runnable(SchedulerTask& task) noexcept {
  hub_ != nullptr ? hub_->publish_expired(task) : enqueue_runnable(task);
}

/// Of one that was in a wheel.
inline void LoopCore::end_delay(SchedulerTask& task) noexcept {
  auto& agent = on_agent();
  if (task.is_time_limit) return agent.limits.push(task);
  task.scheduler->delays ? keep_delayed(task) : become_runnable(task);
}

bool LoopCore::post_in_turn(SchedulerTask& task) noexcept {
  if (!on_agent().accepts_posts) return false;
  enqueue(task);
  return true;
}

inline bool LoopCore::post_from_agent(SchedulerTask& task) noexcept {
  if (!on_agent().accepts_posts) return false;
  drain_inbox();  // what was posted before is older (I2)
  enqueue(task);
  return true;
}

/// Whether the caller is a task of this loop, or of its cluster. A loop nested in one of those is still that task.
bool LoopCore::is_ours_here() const noexcept {
  return drives_here(this) || (member_.hub != nullptr && drives_member_here(member_.hub));
}

bool LoopCore::post(SchedulerTask& task) noexcept {
  if (loop_of_this_thread == this) return post_from_agent(task);
  if (hub_ != nullptr) return hub_->post(task);
  // relaxed: see refuse_tasks().
  if (refuses_tasks_.load(sync::relaxed)) [[unlikely]]
    return hand_over_task(task);
  return hand_over(task);
}

bool LoopCore::post_limit(SchedulerTask& limit, Inbox::Below& below) noexcept {
  if (loop_of_this_thread == this) return post_from_agent(limit);
  if (hub_ != nullptr) return hub_->post_limit(limit, below);
  // relaxed: see refuse_tasks().
  if (refuses_tasks_.load(sync::relaxed) && !is_ours_here()) return false;
  return hand_over_limit(limit, below);
}

bool LoopCore::hand_over_limit(SchedulerTask& limit, Inbox::Below& below) noexcept {
  const auto result = limits_to_arm_.post(limit, below);
  // A loop that is closed meanwhile looks for the limit itself.
  if (result == Inbox::PostResult::wake) static_cast<void>(hand_over(limits_message_));
  return result != Inbox::PostResult::closed;
}

bool LoopCore::hand_over_task(LoopNode& node) noexcept {
  // relaxed: see refuse_tasks().
  if (refuses_tasks_.load(sync::relaxed) && !is_ours_here()) return false;
  return hand_over(node);
}

bool LoopCore::post_or_drop(SchedulerTask& task) noexcept {
  const bool posted = post(task);
  if (!posted) task.ops->drop(task);
  return posted;
}

void LoopCore::arrive(LoopNode& node) noexcept {
  switch (node.ops->kind) {
    case LoopNodeKind::task:
      return enqueue(static_cast<SchedulerTask&>(node));
    case LoopNodeKind::microtask:
      return on_agent().microtasks.push(node);
    case LoopNodeKind::forked:  // not here: agents pick it
      break;
    case LoopNodeKind::message:
      return node.ops->run(node, *this);
  }
}

void LoopCore::arrive_all(LoopNode* oldest) noexcept {
  ListWalk walk;
  while (oldest != nullptr) {
    LoopNode* next = oldest->next;
    walk.step(*oldest, next);
    arrive(*oldest);
    oldest = next;
  }
}

void LoopCore::arrive_some(TakenNodes& taken, unsigned most) noexcept {
  taken.arrive_some(turned_portion, most, [this](LoopNode& node) noexcept {
    assert_agent();
    arrive(node);
  });
}

/// All that was left of the inbox, however much it is.
void LoopCore::arrive_left() noexcept {
  for (TakenNodes left = inbox_.take_left(); !left.empty();) arrive_some(left);
  note_leftovers();
}

void LoopCore::arm_all_limits() noexcept {
  while (on_agent().may_have_limits_to_arm) arm_limits();
}

/// No more limits are armed.
void LoopCore::close_limits() noexcept {
  do arm_limits();
  while (limits_to_arm_.has_left());
  arrive_all(limits_to_arm_.close());
  on_agent().may_have_limits_to_arm = false;
  note_leftovers();
}

/// So many of those that other threads have set. Once there are no more, the next one to come tells this agent.
void LoopCore::arm_limits(unsigned most) noexcept {
  auto& agent = on_agent();
  TakenNodes taken =
      limits_to_arm_.has_left() ? limits_to_arm_.take_left() : limits_to_arm_.take_nodes();
  arrive_some(taken, most);
  if (!taken.empty()) {
    limits_to_arm_.leave(taken);
  } else if (agent.may_have_limits_to_arm && limits_to_arm_.try_sleep()) {
    agent.may_have_limits_to_arm = false;
  }
  note_leftovers();
}

void LoopCore::note_leftovers() noexcept {
  auto& agent = on_agent();
  agent.has_leftovers =
      agent.released != nullptr || agent.may_have_limits_to_arm || inbox_.has_left();
}

struct LoopCore::DelayEnd {
  void operator()(LoopNode& node) const noexcept {
    loop.assert_agent();
    loop.end_delay(static_cast<SchedulerTask&>(node));
  }
  LoopCore& loop;
};

void LoopCore::expire_timers(unsigned most) noexcept {
  auto& agent = on_agent();
  if (agent.delays.empty()) return;
  const Tick now = time_.tick_now();
  if (now < agent.delays.next_expiry()) return;
  agent.delays.expire(now, DelayEnd{*this}, most);
  if (agent.ended_delays != nullptr) expire_schedulers(most);
}

void LoopCore::expire_limits() noexcept {
  auto& delays = on_agent().delays;
  if (delays.has_limits()) delays.expire_limits(time_.tick_now(), DelayEnd{*this}, expiry_portion);
}

bool LoopCore::hand_over(LoopNode& node) noexcept {
  const auto result = inbox_.post(node);
  if (result == Inbox::PostResult::wake) wake_up();
  return result != Inbox::PostResult::closed;
}

void LoopCore::send(LoopNode& node) noexcept {
  if (!hand_over(node)) return drop_undeliverable(node);
  if (hub_ != nullptr) hub_->notify_keeper();
}

void LoopCore::send_abort(LoopNode& message) noexcept {
  switch (aborts_.post(message)) {
    case Inbox::PostResult::posted:
      break;
    case Inbox::PostResult::wake:
      return send(aborts_message_);
    case Inbox::PostResult::closed:
      return drop_undeliverable(message);
  }
}

void LoopCore::send_to_clear(LoopNode& node) noexcept {
  if (!hand_over(node)) return drop_undeliverable(node);
  if (hub_ != nullptr) hub_->count_to_clear();
}

void LoopCore::request_recheck() noexcept {
  recheck_.store(true, sync::edge("recheck:request", sync::seq_cst));
}

void LoopCore::request_stop() noexcept {
  if (!stop_sent_.exchange(true, sync::edge("stop:send", sync::acq_rel))) send(stop_message_);
}

void LoopCore::lose_agent(void* loop) noexcept {
  auto& lost = *static_cast<LoopCore*>(loop);
  lost.refuse_tasks();
  if (drives_here(&lost)) lost.request_stop();
}

void LoopCore::end_stop() noexcept {
  auto& agent = on_agent();
  agent.stop_requested = false;
  if (!std::exchange(agent.stop_taken, false)) return;
  // The message may be sent again from here on; who has not, as it was under way, has asked before.
  stop_sent_.exchange(false, sync::edge("stop:take", sync::acq_rel));
}

EventLoopStats LoopCore::stats() const noexcept {
  // relaxed, here and below: statistics.
  EventLoopStats stats{.tasks_run = tasks_run_,
                       .wakeups_sent = wakeups_sent_.load(sync::relaxed),  // relaxed: as above.
                       .sleeps = sleeps_.load(sync::relaxed)};             // relaxed: as above.
  for (std::size_t i = 0; i < task_source_count; ++i) {
    stats.source_tasks_run[i] = source_tasks_run_[i].load(sync::relaxed);  // relaxed: as above.
  }
  return stats;
}

}  // namespace heist
