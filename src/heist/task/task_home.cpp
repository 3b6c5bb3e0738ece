#include "task_home.hpp"

namespace HEIST_NAMESPACE::detail {

TaskHome::AbortNotice::AbortNotice() noexcept : LoopNode(table) {}

const MessageOps TaskHome::AbortNotice::table{&ignore, &take};

void TaskHome::AbortNotice::take(LoopNode& /*node*/, TaskHome& home) noexcept {
  home.aborted().note_messages();
}

void TaskHome::AbortNotice::ignore(LoopNode& /*node*/) noexcept {}

TaskHome::LimitsNotice::LimitsNotice() noexcept : LoopNode(table) {}

const MessageOps TaskHome::LimitsNotice::table{&ignore, &take};

void TaskHome::LimitsNotice::take(LoopNode& /*node*/, TaskHome& home) noexcept {
  home.limits_to_arm_.note();
  home.limits_to_arm_.arm_some(home.waiting());
}

void TaskHome::LimitsNotice::ignore(LoopNode& /*node*/) noexcept {}

TaskHome::TaskHome(const EventLoopOptions& options)
    : time_(options.clock, options.tick), sampling_(time_, options.sample_every) {
  static_cast<void>(abort_messages_.try_sleep());  // the first message there sends a notice
}

TaskHome::~TaskHome() = default;

void retain(TaskHome& home) noexcept { home.shares_.add(); }

void release(TaskHome& home) noexcept {
  if (home.shares_.drop()) delete &home;
}

void TaskHome::send_abort(LoopNode& message) noexcept {
  switch (abort_messages_.post(message)) {
    case Inbox::PostResult::posted:
      break;
    case Inbox::PostResult::wake:
      return send(abort_notice_);
    case Inbox::PostResult::closed:
      return drop_undeliverable(message);
  }
}

void TaskHome::set_time_limit(SchedulerTask& limit, Delay delay) const noexcept {
  set_delay(limit, delay);
  limit.is_delayed = limit.is_time_limit = true;
  if (delay.is_zero()) limit.key = static_cast<Tick>(time_.start_of(time_.tick_now()).count());
}

}  // namespace HEIST_NAMESPACE::detail
