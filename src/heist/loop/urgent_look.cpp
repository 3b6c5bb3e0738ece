// How an agent finds out whether something more urgent waits than what runs (UrgentLook).
#include <heist/detail/levels.hpp>
#include <heist/detail/urgent_look.hpp>

#include "../signal/continuation.hpp"
#include "../signal/signal_core.hpp"
#include "loop_core.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

// Where there is no cluster, or no signal: words that never change.
constinit const sync::atomic<std::uintptr_t> nothing_posted{0};
constinit const sync::atomic<std::uint64_t> never_due{~std::uint64_t{0}};
constinit const sync::atomic<std::uint64_t> nothing_published{0};
constinit const sync::atomic<std::uint32_t> fixed_priority{0};
constinit const sync::atomic<ReasonBox*> never_aborted{nullptr};

/// Notes the words that a look is about to depend on, before it reads what they say.
void begin_look(UrgentLook& look, const SchedulingState& state) noexcept {
  SignalCore* const aborts = state.abort_source;
  SignalCore* const changes = state.priority_source;
  const bool may_change = changes != nullptr && changes->has_dynamic_priority();
  look.abort_reason = aborts != nullptr ? &aborts->abort_word() : &never_aborted;
  look.own_priority = may_change ? &changes->priority_word() : &fixed_priority;
  // relaxed, both: the look reads the same words again, so it sees these values or later ones.
  look.priority_seen = look.own_priority->load(sync::relaxed);
  look.hint_seen = static_cast<std::uint8_t>(look.hint->load(sync::relaxed));
}

}  // namespace

void LoopCore::show_words() noexcept {
  UrgentLook& look = agent_->look;
  look.inbox = &inbox_word();
  look.recheck = &recheck_;
  look.cluster_inbox = &nothing_posted;
  look.first_due = &never_due;
  look.hint = &nothing_published;
}

bool LoopCore::looks_for_urgent() noexcept {
  auto& agent = on_agent();
  forget_look();
  take_inbox();
  if (!agent.waiting.delays().empty()) agent.end_delays();
  take_recheck();
  begin_look(agent.look, agent.current);
  const int level = effective_priority(priority_now(agent.current), true);
  const bool cluster_looks = membership_ != nullptr && membership_->has_more_urgent(level);
  const auto& waiting = agent.waiting;
  if (cluster_looks || !waiting.limits().empty() || agent.queues.top_level() > level) return true;
  agent.look.holds = waiting.delays().empty();  // the clock may end them
  if (agent.look.holds) leave_look();
  return false;
}

}  // namespace HEIST_NAMESPACE::detail
