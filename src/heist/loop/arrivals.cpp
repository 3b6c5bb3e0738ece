#include "arrivals.hpp"

#include "loop_core.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

/// Accepts a node that was taken from the inbox.
inline void arrive(LoopNode& node, LoopCore& loop) noexcept HEIST_ON_AGENT {
  switch (node.ops->kind) {
    case LoopNodeKind::task:
      return loop.on_agent().enqueue(static_cast<SchedulerTask&>(node));
    case LoopNodeKind::microtask:
      return loop.on_agent().microtasks.push(node);
    case LoopNodeKind::forked:  // not here: agents pick it
      break;
    case LoopNodeKind::message:
      return take_message(node, loop);
  }
}

}  // namespace

void Arrivals::arrive_all(LoopNode* oldest) noexcept {
  ListWalk walk;
  while (oldest != nullptr) {
    LoopNode* next = oldest->next;
    walk.step(*oldest, next);
    arrive(*oldest, loop_);
    oldest = next;
  }
}

void Arrivals::arrive_some(TakenNodes& taken) noexcept {
  taken.arrive_some(turned_portion, portion, [&loop = loop_](LoopNode& node) noexcept {
    loop.assert_agent();
    arrive(node, loop);
  });
}

/// Accepts all that was left of the inbox, however much it is.
void Arrivals::arrive_left() noexcept {
  for (TakenNodes left = inbox_.take_left(); !left.empty();) arrive_some(left);
  loop_.note_leftovers();
}

void Arrivals::take() noexcept {
  const AgentActivity::Moving moving(loop_.counts().activity());
  loop_.forget_look();
  if (loop_.has_leftovers()) [[unlikely]]
    arrive_left();
  arrive_all(inbox_.take());
  if (loop_.limits_to_arm().is_told()) [[unlikely]] {
    loop_.limits_to_arm().arm_all(loop_.waiting());
    loop_.note_leftovers();
  }
}

void Arrivals::drain() noexcept {
  loop_.take_inbox();
  if (!loop_.aborted().has_released()) return;
  loop_.release_signals();
  loop_.take_inbox();  // for what the destructors have posted and re-prioritised
}

bool Arrivals::drain_until_limit() noexcept {
  if (!arrive_until_limit()) return false;
  if (!loop_.aborted().has_released()) return true;
  loop_.release_signals();
  return arrive_until_limit();
}

/// Accepts what was left, then the inbox as it is now. Returns false, and leaves the rest, when a
/// time limit comes first.
bool Arrivals::arrive_until_limit() noexcept {
  const AgentActivity::Moving moving(loop_.counts().activity());
  if (loop_.has_leftovers()) [[unlikely]] {
    TakenNodes left = inbox_.take_left();
    loop_.note_leftovers();
    if (!arrive_until_limit(left)) return false;
  }
  if (TakenNodes taken = inbox_.take_nodes(); LoopNode* only = taken.take_only()) {
    arrive(*only, loop_);
  } else if (!arrive_until_limit(taken)) {
    return false;
  }
  return !loop_.limits_to_arm().is_told() || arm_until_limit();
}

bool Arrivals::arrive_until_limit(TakenNodes& taken) noexcept {
  for (arrive_some(taken); !taken.empty(); arrive_some(taken)) {
    loop_.on_agent().waiting.limits().end_row();
    if (!limit_is_first() && !cluster_is_first()) continue;
    inbox_.leave(taken);
    loop_.note_leftovers();
    return false;
  }
  return true;
}

bool Arrivals::arm_until_limit() noexcept {
  bool is_interrupted = false;
  while (!is_interrupted && loop_.limits_to_arm().is_told()) {
    loop_.on_agent().waiting.limits().end_row();
    if (limit_is_first()) break;
    arm_limits();
    is_interrupted = cluster_is_first();
  }
  loop_.note_leftovers();
  return !loop_.limits_to_arm().is_told();
}

void Arrivals::arm_limits() noexcept {
  loop_.limits_to_arm().arm_some(loop_.waiting());
  loop_.note_leftovers();
}

bool Arrivals::limit_is_first() noexcept {
  auto& waiting = loop_.on_agent().waiting;
  if (!loop_.may_have_limits() || loop_.stop_request().is_sent()) return false;
  if (waiting.limits().empty()) arm_limits();  // those that have ended do not wait for it
  waiting.expire_limits();
  return !waiting.limits().empty() && waiting.limits().may_pick(loop_.counts().run());
}

/// Whether the cluster wants a keeper, perhaps for a time limit of its own. (A stop comes first
/// here, as it does for limits of the loop.)
bool Arrivals::cluster_is_first() noexcept {
  Membership* const membership = loop_.membership();
  return membership != nullptr && membership->wants_keeper() && !loop_.stop_request().is_sent();
}

void Arrivals::close() noexcept {
  arrive_left();
  arrive_all(inbox_.close());
  loop_.limits_to_arm().close(loop_.waiting());
  loop_.note_leftovers();
}

}  // namespace HEIST_NAMESPACE::detail
