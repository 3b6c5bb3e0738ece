// What any thread does to a loop.
#include <heist/error.hpp>
#include <heist/node_memory.hpp>
#include <stdexcept>
#include <utility>

#include "loop_core.hpp"

namespace heist {

namespace {

EventLoopOptions checked(const EventLoopOptions& options) {
  if (options.tick <= options.tick.zero() || options.tick > std::chrono::hours(1)) {
    throw std::invalid_argument("EventLoopOptions::tick must be positive, and an hour at the most");
  }
  if (options.spin < options.spin.zero() || options.spin > std::chrono::hours(1)) {
    throw std::invalid_argument(
        "EventLoopOptions::spin must not be negative, and an hour at the most");
  }
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

LoopCore::LoopCore(const EventLoopOptions& options)
    : time_(options.clock, options.tick),
      spin_(available_cpus() > 1 ? options.spin : std::chrono::nanoseconds::zero()),
      agent_(std::make_unique<AgentState>()) {}

LoopCore::~LoopCore() = default;

Ref<LoopCore> LoopCore::make(const EventLoopOptions& options) {
  return Ref<LoopCore>::adopt(new LoopCore(checked(options)));
}

SchedulerCore& LoopCore::add_scheduler() {
  return *more_schedulers_.emplace_back(std::make_unique<SchedulerCore>());
}

void retain(LoopCore& core) noexcept { core.shares_.add(); }

void release(LoopCore& core) noexcept {
  if (core.shares_.drop()) delete &core;
}

bool LoopCore::post(SchedulerTask& task) noexcept {
  if (loop_of_this_thread == this) return post_from_agent(task);
  // relaxed: see refuse_tasks(). A loop nested in one of our tasks is still that task.
  if (refuses_tasks_.load(sync::relaxed) && !drives_here(this)) return false;
  return hand_over(task);
}

bool LoopCore::hand_over(LoopNode& node) noexcept {
  const auto result = inbox_.post(node);
  if (result == Inbox::PostResult::wake) {
    wakeups_sent_.fetch_add(1, sync::relaxed);  // relaxed: a statistic.
    parker_.unpark();
  }
  return result != Inbox::PostResult::closed;
}

bool LoopCore::post_from_agent(SchedulerTask& task) noexcept {
  if (!on_agent().accepts_posts) return false;
  drain_inbox();  // what was posted before is older (I2)
  enqueue(task);
  return true;
}

void LoopCore::send(LoopNode& node) noexcept {
  if (!hand_over(node)) drop_undeliverable(node);
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
  // The message may be sent again from here on.
  stop_sent_.store(false, sync::edge("stop:take", sync::release));
}

EventLoopStats LoopCore::stats() const noexcept {
  // relaxed: statistics.
  return {.tasks_run = tasks_run_.load(sync::relaxed),
          .wakeups_sent = wakeups_sent_.load(sync::relaxed),  // relaxed: as above.
          .sleeps = sleeps_.load(sync::relaxed)};             // relaxed: as above.
}

}  // namespace heist
