// What any thread does to a loop, and how what is posted to it arrives.
#include "loop_core.hpp"

#include <stdexcept>
#include <utility>

#include "../os/cpu_limit.hpp"
#include "drive_scope.hpp"

namespace HEIST_NAMESPACE::detail {

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

/// How long an agent looks for work before it sleeps.
std::chrono::nanoseconds spin_of(const EventLoopOptions& options) noexcept {
  return available_cpus() > 1 ? options.spin : std::chrono::nanoseconds::zero();
}

/// Whether the caller is a task of this loop, or of its cluster. A loop nested in one of those is
/// still that task.
bool is_task_of(const LoopCore& loop) noexcept {
  if (drives_here(&loop)) return true;
  const Membership* membership = loop.membership();
  return membership != nullptr && drives_member_here(membership->cluster());
}

}  // namespace

LoopCore::StopMessage::StopMessage() noexcept : LoopNode(table) {}

const MessageOps LoopCore::StopMessage::table{&ignore, &take};

void LoopCore::StopMessage::take(LoopNode& /*node*/, TaskHome& home) noexcept {
  auto& agent = home.as_loop()->on_agent();
  agent.stop_requested = agent.stop_taken = true;
}

void LoopCore::StopMessage::ignore(LoopNode& /*node*/) noexcept {}

LoopCore::LoopCore(const EventLoopOptions& options)
    : TaskHome(options),
      sleep_(inbox(), spin_of(options)),
      agent_(std::make_unique<AgentState>(options, time())) {
  set_waiting(&agent_->waiting);
}

LoopCore::~LoopCore() = default;

Ref<LoopCore> LoopCore::make(const EventLoopOptions& options) {
  return Ref<LoopCore>::adopt(new LoopCore(checked(options)));
}

void retain(LoopCore& core) noexcept { retain(static_cast<TaskHome&>(core)); }

void release(LoopCore& core) noexcept { release(static_cast<TaskHome&>(core)); }

void LoopCore::join(std::unique_ptr<Membership> membership) noexcept {
  membership_ = std::move(membership);
  agent_->policy.follow(membership_->cluster().time());
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
  enqueue(task);
  return true;
}

inline bool LoopCore::post_from_agent(SchedulerTask& task) noexcept {
  if (!on_agent().accepts_posts) return false;
  take_inbox_and_release();  // what was posted before is older (I2)
  enqueue(task);
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
  if (!posted) task.ops->drop(task);
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
  recheck_.store(true, sync::edge("recheck:request", sync::seq_cst));
}

void LoopCore::request_stop() noexcept {
  if (!stop_sent_.exchange(true, sync::edge("stop:send", sync::acq_rel))) send(stop_message_);
}

void LoopCore::end_stop() noexcept {
  auto& agent = on_agent();
  agent.stop_requested = false;
  if (!std::exchange(agent.stop_taken, false)) return;
  // The message may be sent again from here on. Whoever did not send it, as it was under way, asked
  // before.
  stop_sent_.exchange(false, sync::edge("stop:take", sync::acq_rel));
}

EventLoopStats LoopCore::stats() const noexcept {
  EventLoopStats stats{
      .tasks_run = counts_.run(), .wakeups_sent = sleep_.wakeups_sent(), .sleeps = sleep_.count()};
  for (std::size_t i = 0; i < task_source_count; ++i) stats.source_tasks_run[i] = counts_.run_of(i);
  return stats;
}

// What was aborted.

void LoopCore::close_inbox() noexcept {
  arrivals_.close();
  close_aborts();
  release_signals();
}

void LoopCore::release_signals() noexcept {
  if (!aborted().has_released()) return;
  end_search();
  aborted().release_signals();
  note_leftovers();
}

void LoopCore::reap_for_a_while() noexcept {
  const auto clear = [this]() noexcept {
    assert_agent();
    end_search();
    aborted().reap_some(abort_messages(), *this);
    return !aborted().empty();
  };
  if (clear()) on_agent().clearing.go_on(time(), clear);
}

/// Takes an aborted task back from where it waits, and disposes of it. Returns false when it has
/// not arrived yet, or was disposed of already.
bool LoopCore::reap(ControlledTask& task) noexcept {
  return on_agent().withdraw(task) && dispose(task);
}

void LoopCore::release_held(SchedulerCore& scheduler) noexcept {
  on_agent().release_held(scheduler);
}

}  // namespace HEIST_NAMESPACE::detail
