#include <heist/abort_signal.hpp>
#include <heist/detail/helped_task.hpp>
#include <heist/detail/levels.hpp>

#include "../cluster/cluster_core.hpp"
#include "../cluster/member.hpp"
#include "../loop/loop_core.hpp"
#include "../signal/continuation.hpp"
#include "../signal/signal_core.hpp"

namespace HEIST_NAMESPACE {

using namespace detail;

namespace {

Ref<ClusterCore> cluster_of(const LoopCore* loop) noexcept {
  const Member* member = loop != nullptr ? Member::of(*loop) : nullptr;
  return member != nullptr ? Ref<ClusterCore>::share(&member->core()) : Ref<ClusterCore>();
}

SchedulingState state_here() {
  LoopCore* loop = loop_of_this_thread;
  if (loop == nullptr) return {};
  loop->assert_agent();
  SchedulingState state = loop->on_agent().current;
  // Helpers run on other agents. So their scheduler is the cluster's, even for a task that is bound
  // to one agent.
  const auto cluster = cluster_of(loop);
  if (!cluster || (state.scheduler != nullptr && &state.scheduler->home == cluster.get())) {
    return state;
  }
  SchedulerCore& uncapped = cluster->first_scheduler();
  state.scheduler =
      state.scheduler == nullptr ? &uncapped : &uncapped.with_ceiling(state.scheduler->ceiling);
  return state;
}

}  // namespace

Helpers::Helpers() noexcept : cluster_(cluster_of(loop_of_this_thread)) {}

unsigned Helpers::agents() const noexcept { return cluster_ ? cluster_->agents() : 1; }
unsigned Helpers::places() const noexcept { return cluster_ ? cluster_->size() : 1; }

bool Helpers::post(TaskPriority priority, SchedulerTask& helper) const noexcept {
  helper.scheduler = &cluster_->first_scheduler();
  helper.priority = priority;
  helper.is_continuation = true;
  return cluster_->post_or_drop(helper);
}

unsigned Helpers::agent_here() noexcept { return Member::of(*loop_of_this_thread)->index(); }

HelpedTask::HelpedTask() : captured_(state_here()) {}

bool HelpedTask::aborted() const noexcept {
  const SignalCore* source = captured_.state().abort_source;
  return source != nullptr && source->aborted();
}

void HelpedTask::throw_if_aborted() const {
  if (aborted()) captured_.state().abort_source->reason().rethrow();
}

TaskPriority HelpedTask::priority() const noexcept { return priority_now(captured_.state()); }

bool HelpedTask::may_help() const noexcept {
  LoopCore& loop = *loop_of_this_thread;
  loop.assert_agent();
  return !loop.has_more_urgent(effective_priority(priority(), true));
}

HelpedTask::Scope::Scope(const HelpedTask& task) noexcept {
  LoopCore& loop = *loop_of_this_thread;
  loop.assert_agent();
  outer_ = loop.on_agent().current;
  loop.on_agent().change_current(task.captured_.state());
}

HelpedTask::Scope::~Scope() {
  LoopCore& loop = *loop_of_this_thread;
  loop.assert_agent();
  loop.on_agent().change_current(outer_);
}

}  // namespace HEIST_NAMESPACE
