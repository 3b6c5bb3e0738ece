// A loop whose agent sleeps in a host (AgentHost): the turns of the host between tasks.
#include "loop_core.hpp"

namespace HEIST_NAMESPACE::detail {

void LoopCore::begin_host(AgentHost& host) {
  host.begin(sleep_.parker().descriptor());
  sleep_.host().begin(host);
  sleep_.spin().shorten_to(HostTurns::longest_spin);
}

void LoopCore::end_host(AgentHost& host) noexcept {
  sleep_.host().end();
  host.end();
}

/// Runs tasks until none is runnable, or a stop was requested. The host has its turns between them.
void LoopCore::run_beside_host() noexcept {
  while (run_next(true)) poll_host_after_task();
  static_cast<void>(poll_host_if_due());
}

bool LoopCore::poll_host_if_due() noexcept {
  const bool is_due = sleep_.host().is_due();
  if (is_due) poll_host();
  return is_due;
}

/// What the host calls counts as something that runs, but not as a task.
void LoopCore::poll_host() noexcept {
  end_search();
  on_agent().change_current({});
  counts_.activity().say_runs_uncounted(this);
  sleep_.host().poll();
  counts_.activity().say_moves();
}

void LoopCore::end_host_wait() noexcept {
  if (!sleep_.host().end_wait()) return;
  AgentSleep::trace_wake();
  sleep_.time().end();
  membership_ != nullptr ? membership_->end_wait() : sleep_.end();
  counts_.activity().say_runs_uncounted(this);
}

}  // namespace HEIST_NAMESPACE::detail
