#include "loop_host.hpp"

#include <heist/detail/report_error.hpp>
#include <heist/error.hpp>

#include "cooperative_core.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

/// Delays that are shorter than this are rounded to the nanosecond.
constexpr Milliseconds longest_delay = std::chrono::hours(24 * 365);

/// Rounds to whole nanoseconds, because a floating-point count of milliseconds is not exact.
Delay rounded_delay(Milliseconds delay) noexcept {
  if (!(delay < longest_delay)) return delay;
  return std::chrono::round<std::chrono::nanoseconds>(delay);
}

void perform(CooperativeCore& core) noexcept {
  const auto work = [&core] { core.perform_work(); };
  invoke_and_report(work, ErrorOrigin::task);
}

void expire(CooperativeCore& core) noexcept { core.expire_timeout(); }

}  // namespace

LoopHost::Task::Task(LoopHost& of, TaskSource from, Act what) noexcept
    : SchedulerTask(table, false), host(of), source(from), act(what) {}

const LoopNodeOps LoopHost::Task::table{LoopNodeKind::task, &run, &drop};

void LoopHost::Task::run(LoopNode& node, LoopCore& loop) noexcept {
  auto& task = static_cast<Task&>(static_cast<SchedulerTask&>(node));
  count_plain_task(loop, task.source);
  const auto core = Ref<CooperativeCore>::adopt(task.host.core_);
  task.act(*core);
}

/// Called when the loop is closed.
void LoopHost::Task::drop(LoopNode& node) noexcept {
  auto& task = static_cast<Task&>(static_cast<SchedulerTask&>(node));
  const auto core = Ref<CooperativeCore>::adopt(task.host.core_);
  core->close();
}

LoopHost::LoopHost(LoopCore& loop)
    : loop_(Ref<LoopCore>::share(&loop)),
      message_(*this, TaskSource::message, &perform),
      timeout_(*this, TaskSource::timer, &expire) {
  message_.scheduler = timeout_.scheduler = &loop.plain_source();
}

std::uint32_t LoopHost::new_number() noexcept {
  auto& numbers = loop_->on_agent().cooperative_tasks;
  if (++numbers == 0) ++numbers;
  return numbers;
}

Milliseconds LoopHost::rounded(Milliseconds time) noexcept {
  if (!(time < longest_delay)) return time;
  return std::chrono::round<std::chrono::nanoseconds>(time);
}

void LoopHost::post(Task& task) noexcept {
  loop_->assert_agent();
  retain(*core_);
  if (!loop_->post_in_turn(task)) Task::drop(task);
}

void LoopHost::post_message() noexcept { post(message_); }

void LoopHost::set_timeout(Milliseconds delay) noexcept {
  clear_timeout();
  timeout_.is_delayed = false;
  loop_->set_delay(timeout_, rounded_delay(delay));
  post(timeout_);
}

void LoopHost::clear_timeout() noexcept {
  if (!loop_->on_agent().withdraw(timeout_)) return;
  timeout_.place = TaskPlace::elsewhere;
  release(*core_);
}

}  // namespace HEIST_NAMESPACE::detail
