#include <heist/detail/access.hpp>
#include <heist/detail/in_place_task.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/scheduler.hpp>
#include <utility>

#include "../loop/loop_core.hpp"
#include "../signal/post_abortable.hpp"
#include "../signal/signal_core.hpp"
#include "../task/check_priority.hpp"
#include "../task/suspension_message.hpp"

namespace HEIST_NAMESPACE {

using namespace detail;

namespace {

/// [sched#compute-the-scheduling-state-from-options] without a signal, and the delay.
void apply_options(SchedulerTask& task, const PostTaskOptions& options) noexcept {
  SchedulerCore& scheduler = *task.scheduler;
  task.priority = scheduler.capped(options.priority.value_or(TaskPriority::user_visible));
  scheduler.home.set_delay(task, options.delay);
}

/// It is a function of its own, as the way of other tasks is shorter without it.
[[gnu::noinline]] bool post_chosen(SchedulerTask& task) noexcept {
  auto& home = task.scheduler->home;
  home.sampling().begin(task);
  return home.post_or_drop(task);
}

}  // namespace

Reason Scheduler::refused_by(const PostTaskOptions& options) {
  check_priority(options.priority, "PostTaskOptions::priority");
  if (!options.signal) return {};
  Access::check_valid(*options.signal, "PostTaskOptions::signal");
  return Access::core(*options.signal).aborted() ? options.signal->reason() : Reason();
}

// The handle may have moved with the callback, which may own it. So these find the home by the
// core. As the callback may be the last one to know the home then, another handle keeps that until
// the post has returned.

/// Without options the task is user-visible.
bool Scheduler::post_plain(SchedulerTask& task) const noexcept {
  if (!home_) [[unlikely]]
    return scheduler_of(*core_).post_plain(task);
  task.scheduler = core_;
  task.priority = core_->capped(task.priority);
  if (core_->home.sampling().chooses(task)) [[unlikely]]
    return post_chosen(task);
  return core_->home.post_or_drop(task);
}

bool Scheduler::post_plain(SchedulerTask& task, const PostTaskOptions& options) const noexcept {
  if (!home_) [[unlikely]]
    return scheduler_of(*core_).post_plain(task, options);
  task.scheduler = core_;
  apply_options(task, options);
  core_->home.note_posted(task);
  return core_->home.post_or_drop(task);
}

void Scheduler::post_without_signal(ControlledTask& task) const noexcept {
  if (!home_) [[unlikely]]
    return scheduler_of(*core_).post_without_signal(task);
  task.scheduler = core_;
  task.priority = core_->capped(task.priority);
  detail::post_without_signal(task);
}

void Scheduler::post_without_signal(ControlledTask& task,
                                    const PostTaskOptions& options) const noexcept {
  if (!home_) [[unlikely]]
    return scheduler_of(*core_).post_without_signal(task, options);
  task.scheduler = core_;
  apply_options(task, options);
  detail::post_without_signal(task);
}

bool Scheduler::post_controlled(ControlledTask& task, const PostTaskOptions& options,
                                Ref<SignalCore> signal) const {
  if (!home_) [[unlikely]]
    return scheduler_of(*core_).post_controlled(task, options, std::move(signal));
  task.scheduler = core_;
  apply_options(task, options);
  if (!options.priority) {
    task.is_dynamic = signal->has_dynamic_priority();
    task.priority = core_->capped(signal->fixed_priority());
  }
  return post_abortable(task, std::move(signal));
}

Scheduler Scheduler::with_ceiling(TaskPriority highest) const {
  check_valid("Scheduler::with_ceiling");
  check_priority(highest, "with_ceiling: the value");
  return {home_, &core_->with_ceiling(highest)};
}

void Scheduler::suspend() const {
  check_valid("Scheduler::suspend");
  auto* message = make_node<SuspensionMessage>(*core_, true);
  message->change = home_->suspend(*core_);
  home_->send(*message);
}

void Scheduler::resume() const {
  check_valid("Scheduler::resume");
  auto* message = make_node<SuspensionMessage>(*core_, false);
  message->change = home_->resume(*core_);
  home_->send(*message);
}

std::optional<Scheduler> Scheduler::current() noexcept {
  LoopCore* loop = current_loop();
  if (loop == nullptr) return std::nullopt;
  SchedulerCore* scheduler = loop->on_agent().current.scheduler;
  if (scheduler == nullptr || scheduler == &loop->plain_source()) return std::nullopt;
  return Scheduler(Ref<TaskHome>::share(&scheduler->home), scheduler);
}

Scheduler detail::scheduler_of(SchedulerCore& core) noexcept {
  return Access::make<Scheduler>(Ref<TaskHome>::share(&core.home), &core);
}

Scheduler detail::scheduler_here() {
  if (auto current = Scheduler::current()) return *std::move(current);
  LoopCore* const loop = current_loop();
  if (loop == nullptr) {
    throw NotAllowedError("no event loop runs on this thread: name a scheduler");
  }
  return scheduler_of(loop->first_scheduler());
}

void detail::enqueue_microtask(Reaction& reaction) {
  reaction.bind_to_current_agent();
  deliver(reaction);
}

}  // namespace HEIST_NAMESPACE
