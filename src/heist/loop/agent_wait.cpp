#include "agent_wait.hpp"

#include <heist/detail/promise_state.hpp>
#include <heist/detail/report_error.hpp>
#include <heist/error.hpp>
#include <string>

#include "drain_watch.hpp"
#include "drive_scope.hpp"

namespace HEIST_NAMESPACE::detail {

void AgentWait::begin(const PromiseStateBase& promise, const TaskHome* settler,
                      const PromiseStateBase* own) noexcept {
  // relaxed, all: published by what follows.
  settles.store(own, sync::relaxed);
  home.store(settler, sync::relaxed);                         // relaxed: as above.
  count.store(count.load(sync::relaxed) + 1, sync::relaxed);  // relaxed: as above.
  on.store(&promise, sync::edge("wait:begin", sync::seq_cst));
}

void AgentWait::end() noexcept { on.store(nullptr, sync::edge("wait:end", sync::seq_cst)); }

namespace {

/// The promise that the agent's running task will settle.
const PromiseStateBase* promise_of_task(LoopCore& agent) noexcept {
  ControlledTask* const task = agent.running_task().get();
  return task != nullptr ? task->task_ops().promise(*task) : nullptr;
}

#if defined(HEIST_MODEL)
constexpr bool looks_again = false;  // models know no real time
#else
constexpr bool looks_again = true;
#endif

}  // namespace

AgentWaiting::AgentWaiting(const PromiseStateBase& on, const TaskHome* home)
    : agent_(member_here()) {
  if (agent_ == nullptr) agent_ = loop_of_this_thread;
  if (agent_ == nullptr) return;
  agent_->wait().begin(on, home, promise_of_task(*agent_));
  Membership* const membership = agent_->membership();
  if (membership == nullptr) return;
  if (looks_again) look_at_ = Clock::now() + patience_for_waits();
  try {
    refuse_if_stuck();
  } catch (...) {
    end();
    throw;
  }
}

void AgentWaiting::refuse_if_stuck() const {
  if (!agent_->membership()->is_stuck()) return;
  throw NotAllowedError(
      "waiting here would never end: all agents that could settle the promise wait as well");
}

AgentWaiting::~AgentWaiting() {
  if (agent_ != nullptr) end();
}

void AgentWaiting::look() {
  refuse_if_stuck();
  look_at_ = Clock::now() + patience_for_waits();
  tell_of_long_waits();
}

void AgentWaiting::tell_of_long_waits() noexcept {
  try {
    const std::string found = agent_->membership()->find_long_waits(seen_);
    if (found.empty()) return;
    look_at_ = std::nullopt;
    const std::string text =
        "several agents have waited for long, which never ends if it is for each other: " + found;
    report_error(ErrorOrigin::wait, Reason{TimeoutError(text.c_str())});
  } catch (
      ...) {  // NOLINT(bugprone-empty-catch): no memory for the words; the next look may have it
  }
}

void AgentWaiting::end() noexcept {
  agent_->wait().end();
  if (Membership* membership = agent_->membership()) membership->await_lookers();
}

}  // namespace HEIST_NAMESPACE::detail
