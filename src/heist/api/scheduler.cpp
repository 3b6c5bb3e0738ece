#include <heist/node_memory.hpp>
#include <heist/scheduler.hpp>
#include <stdexcept>

#include "../loop/cluster_hub.hpp"
#include "../loop/loop_core.hpp"
#include "../loop/signal_core.hpp"
#include "../loop/submit.hpp"

namespace heist {

namespace {

/// [sched#compute-the-scheduling-state-from-options] without a signal, and the delay.
void apply_options(SchedulerTask& task, const PostTaskOptions& options, LoopCore& loop) noexcept {
  task.priority = options.priority.value_or(TaskPriority::user_visible);
  loop.set_delay(task, options.delay);
}

}  // namespace

Reason Scheduler::refused(const PostTaskOptions& options) {
  if (options.priority && *options.priority > TaskPriority::user_blocking) {
    throw std::invalid_argument("PostTaskOptions::priority is not a TaskPriority");
  }
  return options.signal ? options.signal->reason() : Reason();
}

bool Scheduler::submit_plain(SchedulerTask& task) const noexcept {
  task.scheduler = core_;
  return loop_->post_or_drop(task);
}

bool Scheduler::submit_plain(SchedulerTask& task, const PostTaskOptions& options) const noexcept {
  apply_options(task, options, *loop_);
  return submit_plain(task);
}

bool Scheduler::submit_controlled(ControlledTask& task, const PostTaskOptions& options) const {
  task.scheduler = core_;
  apply_options(task, options, *loop_);
  SignalCore* signal = options.signal ? &options.signal->core() : nullptr;
  if (signal != nullptr && !options.priority) {
    task.is_dynamic = signal->has_dynamic_priority();
    task.priority = signal->fixed_priority();
  }
  return submit(task, signal);
}

void Scheduler::suspend() const {
  auto* message = make_node<SuspensionMessage>(*core_, true);
  if (ClusterHub* hub = loop_->hub()) hub->suspend(*core_);
  loop_->send(*message);
}

void Scheduler::resume() const {
  auto* message = make_node<SuspensionMessage>(*core_, false);
  loop_->send(*message);
  if (ClusterHub* hub = loop_->hub()) hub->resume(*core_);
}

std::optional<Scheduler> Scheduler::current() noexcept {
  LoopCore* loop = current_loop();
  if (loop == nullptr) return std::nullopt;
  SchedulerCore* scheduler = loop->on_agent().current.scheduler;
  if (scheduler == nullptr || scheduler == &loop->plain_source()) return std::nullopt;
  return Scheduler(Ref<LoopCore>::share(&scheduler->loop), scheduler);
}

void enqueue_microtask(Reaction& reaction) {
  reaction.bind_to_current_agent();
  deliver(reaction);
}

}  // namespace heist
