#include <algorithm>
#include <cmath>
#include <heist/cooperative_scheduler.hpp>
#include <heist/detail/access.hpp>
#include <heist/detail/node_memory.hpp>
#include <stdexcept>
#include <utility>

#include "../cooperative/cooperative_core.hpp"
#include "../loop/loop_core.hpp"

namespace HEIST_NAMESPACE {

using namespace detail;

namespace {

bool is_priority(CooperativePriority priority) noexcept {
  return priority >= CooperativePriority::immediate && priority <= CooperativePriority::idle;
}

LoopCore& bound_loop(const Scheduler& on) {
  Access::check_valid(on, "CooperativeScheduler: the scheduler");
  LoopCore* const loop = Access::home(on)->as_loop();
  if (loop == nullptr) {
    throw NotAllowedError(
        "CooperativeScheduler: it works on one loop; name the scheduler of one of the cluster's "
        "agents");
  }
  if (Access::core(on)->capped(TaskPriority::user_visible) != TaskPriority::user_visible) {
    throw NotAllowedError(
        "CooperativeScheduler: it works beside user-visible tasks; the ceiling is below");
  }
  return *loop;
}

constexpr Milliseconds usual_interval(5);

}  // namespace

CooperativeScheduler::CooperativeScheduler(const Scheduler& on)
    : core_(CooperativeCore::make(bound_loop(on))), clock_(&core_->clock()) {}

CooperativeScheduler::CooperativeScheduler(CooperativeHost& host)
    : core_(CooperativeCore::make(host)), clock_(&core_->clock()) {}

CooperativeTask CooperativeScheduler::schedule_callback(CooperativePriority priority,
                                                        CooperativeCallback callback,
                                                        const CooperativeOptions& options) const {
  if (!is_priority(priority)) {
    throw std::invalid_argument("schedule_callback: the value is not a CooperativePriority");
  }
  if (!callback) throw std::invalid_argument("schedule_callback: there is nothing to call");
  auto* node = make_node<CooperativeTaskNode>(*core_, priority, std::move(callback));
  auto task = Ref<CooperativeTaskNode>::adopt(node);
  if (core_->schedule(*node, options.delay)) return Access::make<CooperativeTask>(std::move(task));
  release(*node);
  return {};
}

void CooperativeScheduler::cancel_callback(const CooperativeTask& task) const {
  if (!task) return;
  if (&Access::node(task)->core != core_.get()) {
    throw std::invalid_argument("cancel_callback: the task is another scheduler's");
  }
  core_->cancel(*Access::node(task));
}

void CooperativeScheduler::force_frame_rate(double frames_per_second) const {
  const bool is_taken = frames_per_second >= 0 && frames_per_second <= 125;  // not a NaN
  if (!is_taken) {
    throw std::invalid_argument("force_frame_rate: it takes 0 to 125 frames a second");
  }
  const bool is_usual = frames_per_second == 0;
  clock_->set_interval(is_usual ? usual_interval
                                : Milliseconds(std::floor(1000 / frames_per_second)));
}

void CooperativeScheduler::set_frame_interval(Milliseconds interval) const {
  if (!(interval > Milliseconds::zero())) {
    throw std::invalid_argument("set_frame_interval: an interval is longer than nothing");
  }
  clock_->set_interval(interval);
}

CooperativePriority CooperativeScheduler::current_priority_level() const noexcept {
  return core_->level();
}

CooperativePriority CooperativeScheduler::exchange_level(CooperativePriority level) const noexcept {
  const CooperativePriority before = core_->level();
  core_->set_level(level);
  return before;
}

CooperativePriority CooperativeScheduler::level_or_normal(CooperativePriority priority) noexcept {
  return is_priority(priority) ? priority : CooperativePriority::normal;
}

CooperativePriority CooperativeScheduler::next_level() const noexcept {
  return std::max(core_->level(), CooperativePriority::normal);
}

Milliseconds CooperativeScheduler::now() const noexcept { return core_->now(); }

void CooperativeScheduler::close() const {
  if (!core_->is_here()) {
    throw NotAllowedError("CooperativeScheduler::close: it is for a task of its loop");
  }
  const Ref<CooperativeCore> kept = core_;  // a callback may have the last handle
  kept->close();
}

void CooperativeScheduler::perform_work() const {
  if (core_->has_own_host()) {
    throw NotAllowedError("perform_work: the scheduler is an event loop's, which calls it itself");
  }
  const Ref<CooperativeCore> core = core_;  // a callback may drop the last handle
  core->perform_work();
}

void CooperativeScheduler::expire_timeout() const noexcept {
  if (!core_->has_own_host()) core_->expire_timeout();
}

}  // namespace HEIST_NAMESPACE
