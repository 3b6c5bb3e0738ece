#include <algorithm>
#include <chrono>
#include <heist/detail/access.hpp>
#include <heist/error.hpp>
#include <heist/event_loop.hpp>
#include <stdexcept>

#include "../loop/drive_scope.hpp"
#include "../loop/loop_core.hpp"
#include "../loop/loop_options.hpp"
#include "gather_metrics.hpp"

namespace HEIST_NAMESPACE {

using namespace detail;

namespace {

/// Waits for a task and runs it. Returns false when the loop was stopped or closed instead.
bool wait_and_run(LoopCore& loop) HEIST_ON_AGENT {
  constexpr bool heed_stop = true;
  while (!loop.stop_request().is_due()) {
    if (loop.run_next(heed_stop)) return true;
    if (!loop.on_agent().accepts_posts) return false;
    if (!loop.stop_request().is_due()) loop.park();
  }
  return false;
}

void check_virtual_step(LoopCore& loop, std::chrono::nanoseconds duration) {
  if (!loop.time().is_virtual()) throw NotAllowedError("this loop follows the steady clock");
  if (duration < duration.zero()) throw std::invalid_argument("time cannot go back");
}

/// The virtual time after a duration, but not later than the end of the clock.
std::chrono::nanoseconds later_by(const LoopTime& time, std::chrono::nanoseconds duration) {
  return time.now() + std::min(duration, duration.max() - time.now());
}

/// Arms the descriptor for a foreign loop, which has to drive this loop when there is something to
/// do.
void arm_descriptor(LoopCore& loop) HEIST_ON_AGENT {
  const auto has_work = [&loop] {
    loop.assert_agent();
    return loop.has_work();
  };
  loop.sleep().arm_descriptor(has_work, loop.on_agent().waiting.next_deadline());
}

/// Disarms a foreign loop's descriptor while this loop runs, and arms it again afterwards.
class DescriptorScope {
 public:
  explicit DescriptorScope(LoopCore& loop) noexcept HEIST_ON_AGENT : loop_(loop) {
    if (loop_.sleep().parker().has_descriptor()) loop_.sleep().disarm_descriptor();
  }
  ~DescriptorScope() {
    loop_.assert_agent();
    if (!loop_.sleep().parker().has_descriptor()) return;
    // A closed loop has nothing to do any more.
    loop_.is_closed() ? loop_.sleep().parker().arm_descriptor({}) : arm_descriptor(loop_);
  }
  DescriptorScope(const DescriptorScope&) = delete;
  DescriptorScope& operator=(const DescriptorScope&) = delete;

 private:
  LoopCore& loop_;
};

}  // namespace

EventLoop::EventLoop(const EventLoopOptions& options) : core_(LoopCore::make(options)) {}

EventLoop::~EventLoop() {
  close(CloseMode::abort());
  core_->free_agent_state();
}

Scheduler EventLoop::scheduler() const noexcept {
  return Access::make<Scheduler>(Ref<TaskHome>::share(core_.get()), &core_->first_scheduler());
}

Scheduler EventLoop::create_scheduler() {
  const DriveScopeUnlessInside driving(*core_);
  return Access::make<Scheduler>(Ref<TaskHome>::share(core_.get()), &core_->add_scheduler());
}

void EventLoop::run() {
  const DriveScope driving(*core_);
  core_->assert_agent();
  const DescriptorScope descriptor(*core_);
  core_->run();
}

bool EventLoop::run_one() {
  const DriveScope driving(*core_);
  core_->assert_agent();
  const DescriptorScope descriptor(*core_);
  const bool ran = wait_and_run(*core_);
  if (!ran) core_->stop_request().end();
  return ran;
}

std::size_t EventLoop::poll() {
  const DriveScope driving(*core_);
  auto& agent = core_->on_agent();
  const DescriptorScope descriptor(*core_);
  std::size_t ran = 0;
  while (!core_->collect_work()) {  // a time limit comes first
    if (core_->run_next()) ++ran;
  }
  const std::size_t present = ran + agent.waiting.limits().size() + agent.queues.size();
  for (; ran < present; ++ran) {
    if (!core_->run_next()) break;
  }
  return ran;
}

std::size_t EventLoop::poll(const TurnLimits& limits) {
  const DriveScope driving(*core_);
  core_->assert_agent();
  const DescriptorScope descriptor(*core_);
  const auto begin = std::chrono::steady_clock::now();
  std::size_t ran = 0;
  while (ran < limits.tasks && core_->run_next()) {
    ++ran;
    if (std::chrono::steady_clock::now() - begin >= limits.time) break;
  }
  return ran;
}

std::size_t EventLoop::run_until_idle() {
  const DriveScope driving(*core_);
  core_->assert_agent();
  const DescriptorScope descriptor(*core_);
  return core_->run_all();
}

void EventLoop::stop() noexcept {
  const Ref<LoopCore> core = core_;  // the loop may be destroyed as soon as the stop is seen
  core->stop_request().send();
}

void EventLoop::advance(std::chrono::nanoseconds duration) {
  check_virtual_step(*core_, duration);
  auto& time = core_->time();
  const DriveScope driving(*core_);
  auto& agent = core_->on_agent();
  const DescriptorScope descriptor(*core_);
  const auto end = later_by(time, duration);
  core_->run_all();
  for (Tick next = agent.waiting.delays().next_expiry(); next <= time.tick_at(end);
       next = agent.waiting.delays().next_expiry()) {
    time.set_virtual(std::max(time.now(), time.start_of(next)));
    core_->run_all();
  }
  time.set_virtual(std::max(time.now(), end));  // a task may have spent more
  core_->run_all();
}

void EventLoop::spend(std::chrono::nanoseconds duration) {
  check_virtual_step(*core_, duration);
  const DriveScopeUnlessInside driving(*core_);
  core_->time().set_virtual(later_by(core_->time(), duration));
}

std::chrono::nanoseconds EventLoop::now() const noexcept { return core_->time().now(); }

int EventLoop::wakeup_fd() {
  const bool is_inside = current_loop() == core_.get();
  const DriveScopeUnlessInside driving(*core_);
  core_->assert_agent();
  const bool is_new = !core_->sleep().parker().has_descriptor();
  const int descriptor = core_->sleep().parker().descriptor();
  if (is_new && !is_inside && !core_->is_closed()) arm_descriptor(*core_);
  return descriptor;
}

CloseReport EventLoop::close(const CloseMode& mode) {
  if (core_->closing().is_under_way()) {
    core_->closing().hurry(mode);
    return core_->counts().report();
  }
  const DriveScope driving(*core_);
  core_->assert_agent();
  const DescriptorScope descriptor(*core_);
  return core_->closing().close(mode);
}

std::size_t EventLoop::pending() {
  const DriveScopeUnlessInside driving(*core_);
  auto& agent = core_->on_agent();
  core_->take_inbox();  // runs no users' code, which could add work that nobody looks for
  return agent.size();
}

EventLoopStats EventLoop::stats() const noexcept {
  const TaskCounts& counts = core_->counts();
  const AgentSleep& sleep = core_->sleep();
  EventLoopStats stats{
      .tasks_run = counts.run(), .wakeups_sent = sleep.wakeups_sent(), .sleeps = sleep.count()};
  for (std::size_t i = 0; i < task_source_count; ++i) stats.source_tasks_run[i] = counts.run_of(i);
  return stats;
}

LoopMetrics EventLoop::metrics() const { return gather(*core_); }

void EventLoop::set_sampling(std::uint32_t every) {
  check_sampling(every, "EventLoop::set_sampling: the number");
  core_->sampling().measure_every(every);
}

}  // namespace HEIST_NAMESPACE
