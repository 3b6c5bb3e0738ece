#include <heist/detail/access.hpp>
#include <heist/lending_promise.hpp>
#include <span>

#include "../signal/dependent_signal.hpp"
#include "../signal/lent_priority.hpp"
#include "../task/check_priority.hpp"
#include "../task/scheduler_core.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

/// The state that the task would have without lending.
SchedulingState base_of(SchedulerCore& scheduler, const PostTaskOptions& options) noexcept {
  SchedulingState base{.scheduler = &scheduler};
  SignalCore* const signal = options.signal ? &Access::core(*options.signal) : nullptr;
  if (options.priority) {
    base.priority = *options.priority;
  } else if (signal != nullptr) {
    base.priority = signal->fixed_priority();
    if (signal->has_dynamic_priority()) base.priority_source = signal;
  }
  return base;
}

std::span<const AbortSignal> signals_of(const PostTaskOptions& options) noexcept {
  if (!options.signal) return {};
  return {&*options.signal, 1};
}

}  // namespace

Borrower make_borrower(const Scheduler& scheduler, const PostTaskOptions& options) {
  Access::check_valid(scheduler, "post_with_lending: the scheduler");
  check_priority(options.priority, "PostTaskOptions::priority");
  if (options.signal) Access::check_valid(*options.signal, "PostTaskOptions::signal");
  auto priority = LentPriority::make(base_of(*Access::core(scheduler), options));
  // The task borrows as long as there is a promise of it. So it never has to be told its base.
  priority->note_hold();
  auto signal = DependentSignal::make(signals_of(options), DependentSignal::following(*priority));
  return {std::move(priority), Access::make<TaskSignal>(std::move(signal))};
}

}  // namespace HEIST_NAMESPACE::detail
