// How an agent without work waits for some.
#include "cluster_hub.hpp"
#include "loop_core.hpp"
#include "spin_until.hpp"

namespace heist {

bool LoopCore::has_due_delay() noexcept {
  const auto& delays = on_agent().delays;
  return !delays.empty() && delays.next_expiry() <= time_.tick_now();
}

bool LoopCore::has_work() noexcept {
  return has_loose_ends() || !on_agent().queues.empty() || has_due_delay();
}

bool LoopCore::has_more_urgent(int level) noexcept {
  const bool looks = has_loose_ends() || has_due_delay();
  const bool cluster_looks =
      member_.hub != nullptr && (member_.hub->wants_keeper() || member_.hub->may_have_above(level));
  return looks || cluster_looks || on_agent().queues.top_level() > level;
}

void LoopCore::spin_for_work(std::optional<LoopTime::Clock::time_point> limit) noexcept {
  spin_until(spin_, *this, limit, [this] {
    assert_agent();
    return has_work();
  });
}

/// When the clock will next have something for us; never on a virtual clock, which others move.
std::optional<LoopTime::Clock::time_point> LoopCore::next_deadline() noexcept {
  if (time_.is_virtual()) return std::nullopt;
  return time_.steady_start_of(on_agent().delays.next_expiry());
}

void LoopCore::count_sleep() noexcept {
  // relaxed: one writer, a statistic.
  sleeps_.store(sleeps_.load(sync::relaxed) + 1, sync::relaxed);
}

void LoopCore::sleep_until(const std::optional<LoopTime::Clock::time_point>& deadline) noexcept {
  activity_.say_rests();
  parker_.wait(deadline);
  activity_.say_moves();
}

void LoopCore::park(std::optional<LoopTime::Clock::time_point> limit) noexcept {
  if (member_.hub != nullptr) return member_.hub->park(*this, limit);
  spin_for_work(limit);
  forget_rethrown();
  if (has_work()) return;  // also what an exception's destructor has posted
  parker_.prepare();
  if (!inbox_.try_sleep()) return;
  count_sleep();
  auto deadline = next_deadline();
  if (limit && (!deadline || *limit < *deadline)) deadline = limit;
  sleep_until(deadline);
  static_cast<void>(inbox_.cancel_sleep());
}

void LoopCore::arm_descriptor() noexcept {
  parker_.prepare();
  if (has_work() || !inbox_.try_sleep()) return parker_.unpark();
  parker_.arm_descriptor(next_deadline());
}

void LoopCore::disarm_descriptor() noexcept {
  static_cast<void>(inbox_.cancel_sleep());
  parker_.clear_descriptor();
}

}  // namespace heist
