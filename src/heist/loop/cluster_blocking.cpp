// Members of a cluster that block, and the reserves that pick in their places.
#include <algorithm>
#include <heist/blocking.hpp>
#include <utility>

#include "cluster_hub.hpp"
#include "signal_core.hpp"

namespace heist {

namespace {

/// Sleeps grow longer as long as nobody ends them, from here; no need to grow for ever.
constexpr std::chrono::milliseconds short_sleep{1};
constexpr std::chrono::hours long_sleep{1};
constexpr std::chrono::hours for_ever{24 * 365};

using Moment = std::optional<LoopTime::Clock::time_point>;

Moment earlier(Moment one, Moment other) noexcept {
  if (!one || !other) return one ? one : other;
  return std::min(*one, *other);
}

}  // namespace

BlockingScope::BlockingScope() noexcept : member_(LoopCore::member_here()) {
  if (member_ == nullptr || !member_->membership().hub->begin_blocking(*member_)) member_ = nullptr;
}

BlockingScope::~BlockingScope() {
  if (member_ != nullptr) member_->membership().hub->end_blocking(*member_);
}

bool ClusterHub::begin_blocking(LoopCore& agent) noexcept {
  auto& member = agent.member_;
  drop_if_left();
  if (std::exchange(member.is_blocked, true)) return false;
  if (reserve_setup_.count == 0) return true;
  const auto own = member.is_reserve ? std::optional(rank_of(agent)) : std::nullopt;
  if (const auto resting = reserves_.enter(own)) get_up(agents() + *resting);
  return true;
}

void ClusterHub::get_up(unsigned reserve) noexcept {
  if (reserve_setup_.threads != nullptr) return reserve_setup_.threads->get_up(reserve);
  member(reserve)->wake_up();
}

void ClusterHub::end_blocking(LoopCore& agent) noexcept {
  agent.member_.is_blocked = false;
  if (reserve_setup_.count != 0) reserves_.leave();
}

void ClusterHub::enlist(LoopCore& reserve) noexcept {
  queues_.enlist(reserve.member_.index + 1);
  reserve.member_.patience = reserve_setup_.idle;
  reserve.member_.is_rested = false;
  reserves_.end_rest(rank_of(reserve));
}

/// One that is absent may have work of its own: then it is an agent as every other (CLU-1).
bool ClusterHub::may_pick(LoopCore& reserve) noexcept {
  const unsigned rank = rank_of(reserve);
  if (reserves_.stand_down(rank) && reserve.member_.searching) end_search(reserve);
  return reserves_.is_present(rank) || !reserve.on_agent().queues.empty();
}

/// Sleeps until somebody gets it up, or for its patience, which grows while that is of no use: what is left of an idle
/// cluster's reserves wakes up ever less often.
void ClusterHub::park_reserve(LoopCore& reserve, Moment limit) noexcept {
  auto& member = reserve.member_;
  if (member.is_rested && has_ended(reserve)) {
    reserve.on_agent().stop_requested = true;
    return;
  }
  Moment until;
  if (member.patience < for_ever) until = LoopTime::Clock::now() + member.patience;
  const bool is_present = reserves_.is_present(rank_of(reserve));
  is_present ? park_among_all(reserve, earlier(limit, until))
             : rest(reserve, earlier(limit, until));
  member.is_rested = until && LoopTime::Clock::now() >= *until;
  if (!member.is_rested) {
    member.patience = reserve_setup_.idle;
  } else if (member.patience < long_sleep) {
    member.patience = std::max<std::chrono::nanoseconds>(2 * member.patience, short_sleep);
  }
}

/// Sleeps aside from the others.
void ClusterHub::rest(LoopCore& reserve, Moment limit) noexcept {
  reserve.forget_rethrown();
  if (reserve.has_work()) return;
  reserve.parker_.prepare();
  reserve.count_sleep();
  note_what_is_left(reserve);
  if (!reserves_.try_rest(rank_of(reserve))) return;
  note_sleep();
  if (reserve.inbox_.try_sleep()) {
    reserve.sleep_until(earlier(limit, reserve.next_deadline()));
    static_cast<void>(reserve.inbox_.cancel_sleep());
  }
  reserves_.end_rest(rank_of(reserve));
}

/// Whether it is absent, and nobody could give it anything to do: only its Agent and this hub know its loop.
bool ClusterHub::has_ended(LoopCore& reserve) noexcept {
  constexpr std::uint32_t own_references = 2;
  const auto& state = reserve.on_agent();
  return !reserves_.is_present(rank_of(reserve)) && !reserve.has_work() && state.delays.empty() &&
         state.held_tasks == 0 && !reserve.shares_.is_more_than(own_references);
}

bool ClusterHub::try_retire(LoopCore& reserve) noexcept {
  if (reserve.inbox_.has_posts()) return false;
  reserve.count_sleep();
  note_what_is_left(reserve);
  if (!reserves_.try_rest(rank_of(reserve))) return false;
  note_sleep();
  return true;
}

void ClusterHub::give_up(LoopCore& reserve) noexcept { reserves_.give_up(rank_of(reserve)); }

}  // namespace heist
