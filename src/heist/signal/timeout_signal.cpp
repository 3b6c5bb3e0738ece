#include "timeout_signal.hpp"

#include <heist/detail/node_memory.hpp>
#include <heist/error.hpp>
#include <heist/task_source.hpp>

#include "../task/task_home.hpp"

namespace HEIST_NAMESPACE::detail {

const TimeLimitOps TimeoutSignal::timer_table{&expire, &drop_timer, &take_up};
const MessageOps TimeoutSignal::cancellation_table{&drop_cancellation, &take_cancellation};

TimeoutSignal::Timer::Timer(TimeoutSignal& owner) noexcept
    : SchedulerTask(timer_table, false), signal(owner) {}

TimeoutSignal::Cancellation::Cancellation(TimeoutSignal& owner) noexcept
    : LoopNode(cancellation_table), signal(owner) {}

TimeoutSignal::TimeoutSignal(TaskHome& home)
    : SignalCore(SignalForm::timeout),
      home_(Ref<TaskHome>::share(&home)),
      timer_(*this),
      cancellation_(*this) {}

Ref<SignalCore> TimeoutSignal::make(TaskHome& home, Delay delay) {
  auto* made = make_node<TimeoutSignal>(home);
  auto result = Ref<SignalCore>::adopt(made);
  made->timer_.scheduler = &home.plain_source();
  home.set_time_limit(made->timer_, delay);
  if (!home.post_limit(made->timer_, made->below_)) drop_timer(made->timer_);
  return result;
}

bool TimeoutSignal::take_up(SchedulerTask& timer) noexcept {
  auto& self = static_cast<Timer&>(timer).signal;
  auto expected = Where::under_way;
  if (self.where_.compare_exchange_strong(expected, Where::arrived,
                                          sync::edge("limit:take_up", sync::acquire),
                                          sync::edge("limit:take_up", sync::acquire))) {
    return true;
  }
  self.drop_memory();
  self.drop_memory();
  return false;
}

void TimeoutSignal::expire(LoopNode& node, LoopCore& loop) noexcept {
  auto& self = static_cast<Timer&>(static_cast<SchedulerTask&>(node)).signal;
  count_plain_task(loop, TaskSource::timer);
  if (self.try_retain()) {
    self.abort_by_timeout();
    release(self);
  }
  self.drop_memory();
}

/// Aborts the signal. If there is no memory for a reason, it takes the one that was made ahead.
void TimeoutSignal::abort_by_timeout() noexcept {
  Reason reason;
  try {
    reason = Reason(TimeoutError());
  } catch (...) {
    reason = Reason::out_of_memory();
  }
  abort(std::move(reason), driven_home());
}

void TimeoutSignal::drop_timer(LoopNode& node) noexcept {
  static_cast<Timer&>(static_cast<SchedulerTask&>(node)).signal.drop_memory();
}

void TimeoutSignal::end_timeout() noexcept {
  drop_contents();
  cancel_timer();
}

/// Takes the timer off its loop, and drops the references' share of the memory.
void TimeoutSignal::cancel_timer() noexcept {
  if (memory_.is_last()) return drop_memory();  // the timer is over
  if (cancel_under_way()) return;
  if (driven_home() != home_.get()) return Ref<TaskHome>(home_)->send_to_clear(cancellation_);
  take_cancellation(cancellation_, *home_);
}

/// Cancels a timer that has not arrived yet. Returns false when it has arrived.
bool TimeoutSignal::cancel_under_way() noexcept {
  // relaxed: the exchange below decides.
  if (where_.load(sync::relaxed) == Where::arrived) return false;
  if (home_->try_take_back(timer_, below_)) {
    drop_memory();
    drop_memory();
    return true;
  }
  auto expected = Where::under_way;
  return where_.compare_exchange_strong(expected, Where::given_up,
                                        sync::edge("limit:give_up", sync::release),
                                        sync::relaxed);  // relaxed: nothing of it is read.
}

/// A timer that waits no more runs at the moment, or is over. Then its share is not dropped here.
void TimeoutSignal::take_cancellation(LoopNode& node, TaskHome& home) noexcept {
  auto& self = static_cast<Cancellation&>(node).signal;
  if (home.waiting().withdraw(self.timer_)) self.drop_memory();
  self.drop_memory();
}

void TimeoutSignal::drop_cancellation(LoopNode& node) noexcept {
  static_cast<Cancellation&>(node).signal.drop_memory();
}

void TimeoutSignal::drop_memory() noexcept {
  if (memory_.drop()) destroy_node(*this);
}

}  // namespace HEIST_NAMESPACE::detail
