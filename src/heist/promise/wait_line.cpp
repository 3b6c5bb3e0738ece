#include <heist/detail/wait_line.hpp>
#include <utility>

namespace HEIST_NAMESPACE::detail {

void WaitLine::join(Waiter& waiter) noexcept {
  Waiter* newest = joined_.load(sync::relaxed);  // relaxed: the CAS checks it again.
  do {
    waiter.next_ = newest;
  } while (!joined_.compare_exchange_weak(newest, &waiter,
                                          sync::edge("wait_line:join", sync::release),
                                          sync::relaxed));  // relaxed: a failure only retries.
}

void WaitLine::leave(Waiter& waiter) noexcept {
  Waiter* newest = left_.load(sync::relaxed);  // relaxed: the CAS checks it again.
  do {
    waiter.next_aborted_ = newest;
  } while (!left_.compare_exchange_weak(newest, &waiter,
                                        sync::edge("wait_line:leave", sync::release),
                                        sync::relaxed));  // relaxed: a failure only retries.
}

std::uint32_t WaitLine::update(WaiterList& gone) noexcept {
  Waiter* left = left_.exchange(nullptr, sync::edge("wait_line:take_left", sync::acquire));
  let_in(joined_.exchange(nullptr, sync::edge("wait_line:take", sync::acquire)));
  std::uint32_t count = 0;
  for (; left != nullptr; ++count) {
    Waiter& waiter = *std::exchange(left, left->next_aborted_);
    if (waiter.is_listed_) take_out(waiter);
    gone.add(waiter);
  }
  return count;
}

void WaitLine::let_in(Waiter* newest) noexcept {
  Waiter* oldest = nullptr;
  while (newest != nullptr) {
    Waiter* const older = std::exchange(newest->next_, oldest);
    oldest = std::exchange(newest, older);
  }
  while (oldest != nullptr) {
    Waiter& waiter = *std::exchange(oldest, oldest->next_);
    waiter.age_ = ++ages_;
    waiter.is_listed_ = true;
    list_of(waiter).add(waiter);
  }
}

WaiterList& WaitLine::list_of(const Waiter& waiter) noexcept {
  return lists_[waiter.follows_signal() ? following : static_cast<std::size_t>(waiter.priority())];
}

void WaitLine::take_out(Waiter& waiter) noexcept {
  list_of(waiter).remove(waiter);
  waiter.is_listed_ = false;
}

Waiter* WaitLine::take_best() noexcept {
  while (Waiter* const best = find_best()) {
    take_out(*best);
    if (best->try_claim()) return best;
  }
  return nullptr;
}

void WaitLine::take_unless_seen(std::uint64_t now, WaiterList& taken) noexcept {
  const std::uint64_t looked_at = std::exchange(looked_at_, ages_);
  const bool is_known = std::exchange(seen_by_all_, now) == now;
  for (const WaiterList& list : lists_) {
    for (Waiter* at = is_known ? list.first_since(looked_at) : list.first(); at != nullptr;) {
      Waiter& waiter = *std::exchange(at, WaiterList::after(*at));
      if (waiter.seen == now) continue;
      take_out(waiter);
      if (waiter.try_claim()) taken.add(waiter);
    }
  }
}

Waiter* WaitLine::find_best() const noexcept {
  Waiter* best = nullptr;
  auto highest = TaskPriority::background;
  const auto consider = [&](Waiter& waiter) {
    const TaskPriority priority = waiter.priority();
    if (best != nullptr && priority < highest) return;
    if (best != nullptr && priority == highest && best->age_ < waiter.age_) return;
    best = &waiter;
    highest = priority;
  };
  for (std::size_t fixed = 0; fixed < following; ++fixed) {
    if (Waiter* const first = lists_[fixed].first()) consider(*first);
  }
  // Nothing is more urgent than user-blocking, so no younger waiter comes before that one.
  const auto is_behind = [&](const Waiter& waiter) {
    return best != nullptr && highest == TaskPriority::user_blocking && best->age_ < waiter.age_;
  };
  Waiter* at = lists_[following].first();
  for (; at != nullptr && !is_behind(*at); at = WaiterList::after(*at)) consider(*at);
  return best;
}

}  // namespace HEIST_NAMESPACE::detail
