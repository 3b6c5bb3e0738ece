#include "cluster_waits.hpp"

#include <heist/detail/promise_state.hpp>
#include <new>
#include <optional>
#include <utility>

#include "../loop/membership.hpp"
#include "cluster_core.hpp"

namespace HEIST_NAMESPACE::detail {

void ClusterWaits::await_lookers() noexcept {
  for (;;) {
    const auto lookers = lookers_.load(sync::edge("wait:end", sync::seq_cst));
    if (lookers == 0) return;
    wait_on_word(lookers_, lookers, {});
  }
}

/// What a member waited for at one moment.
struct ClusterWaits::Wait {
  const PromiseStateBase* on = nullptr;  ///< after the end of the look only for comparisons
  const PromiseStateBase* settles = nullptr;
  const TaskHome* home = nullptr;
  std::uint32_t count = 0;

  friend bool operator==(const Wait&, const Wait&) = default;
};

struct ClusterWaits::Seen final : SeenWaits {
  Waits waits;
};

/// The members of whom a wait needs any one in order to go on.
struct ClusterWaits::Awaited {
  enum class Who : std::uint8_t { nobody, one, everybody };

  Who who = Who::nobody;
  unsigned member = 0;  ///< the one
};

/// Reads, as a looker, what a member waits for.
ClusterWaits::Wait ClusterWaits::read_wait(LoopCore& member) noexcept {
  const AgentWait& wait = member.wait();
  const auto* const on = wait.on.load(sync::edge("wait:look", sync::seq_cst));
  if (on == nullptr || on->is_settled()) return {};
  // relaxed, all: the load before orders them.
  return {.on = on,
          .settles = wait.settles.load(sync::relaxed),
          .home = wait.home.load(sync::relaxed),     // relaxed: as above.
          .count = wait.count.load(sync::relaxed)};  // relaxed: as above.
}

/// The waits that lasted from the end of a first look to the beginning of a second one. So there
/// was a moment at which all of them lasted.
ClusterWaits::Waits ClusterWaits::look() {
  Waits waits(cluster_.size());
  lookers_.fetch_add(1, sync::edge("wait:looked", sync::seq_cst));
  for (unsigned index = 0; index < cluster_.size(); ++index)
    waits[index] = read_wait(cluster_.loop(index));
  for (unsigned index = 0; index < cluster_.size(); ++index) {
    if (read_wait(cluster_.loop(index)) != waits[index]) waits[index] = {};
  }
  lookers_.fetch_sub(1, sync::edge("wait:looked", sync::seq_cst));
  wake_all_on_word(lookers_);
  return waits;
}

/// A wait for null is none.
ClusterWaits::Awaited ClusterWaits::awaited_by(const Waits& waits,
                                               const Wait& wait) const noexcept {
  if (wait.on == nullptr) return {};
  for (unsigned index = 0; index < cluster_.size(); ++index) {
    const bool settles = waits[index].on != nullptr && waits[index].settles == wait.on;
    if (settles || &cluster_.loop(index) == wait.home) return {Awaited::Who::one, index};
  }
  if (wait.home == &cluster_) return {Awaited::Who::everybody};
  return {};
}

/// The members that wait only for members that wait, too. Reserves that rest count among these
/// while they are looked for, because they pick nothing.
std::vector<bool> ClusterWaits::find_stuck(const Waits& waits) const {
  std::vector<Awaited> awaited;
  awaited.reserve(waits.size());
  for (const Wait& wait : waits) awaited.push_back(awaited_by(waits, wait));
  std::vector<bool> stuck(waits.size(), true);
  std::size_t free_members = 0;
  const auto is_free = [&](unsigned index) {
    const Awaited& by = awaited[index];
    if (by.who == Awaited::Who::nobody) return !cluster_.is_at_rest(index);
    return by.who == Awaited::Who::one ? !stuck[by.member] : free_members != 0;
  };
  bool goes_on = true;
  while (std::exchange(goes_on, false)) {
    for (unsigned index = 0; index < waits.size(); ++index) {
      if (!stuck[index] || !is_free(index)) continue;
      stuck[index] = false;
      ++free_members;
      goes_on = true;
    }
  }
  return stuck;
}

bool ClusterWaits::is_stuck(unsigned member) noexcept {
  try {
    return find_stuck(look())[member];
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// What a drain waits for.

std::string ClusterWaits::words_for(const Waits& waits, const Wait& wait) const {
  const Awaited awaited = awaited_by(waits, wait);
  if (awaited.who == Awaited::Who::nobody) return "something outside of the cluster";
  if (awaited.who == Awaited::Who::everybody) return "a stealable task";
  return "a task of agent " + std::to_string(awaited.member);
}

std::string ClusterWaits::words_for_all(const Waits& waits) const {
  std::string words;
  for (unsigned index = 0; index < cluster_.size(); ++index) {
    if (waits[index].on == nullptr) continue;
    if (!words.empty()) words += "; ";
    words += "agent " + std::to_string(index) + " waits, in a task, for " +
             words_for(waits, waits[index]);
  }
  return words;
}

std::string ClusterWaits::find_long_waits(unsigned member, std::unique_ptr<SeenWaits>& seen) {
  if (seen == nullptr) seen = std::make_unique<Seen>();
  Waits& before = static_cast<Seen&>(*seen).waits;
  const Waits now = look();
  before.resize(now.size());
  Waits both(now.size());
  unsigned count = 0;
  std::optional<unsigned> first;
  for (unsigned index = 0; index < cluster_.size(); ++index) {
    if (now[index].on == nullptr || now[index] != before[index]) continue;
    both[index] = now[index];
    if (!first) first = index;
    ++count;
  }
  before = now;
  const bool is_teller = count >= 2 && first == member;
  return is_teller ? words_for_all(both) : std::string();
}

DrainObstacle ClusterWaits::find_obstacle() {
  const Waits waits = look();
  DrainObstacle found{.what = words_for_all(waits), .mark = 0};
  for (const Wait& wait : waits) found.mark += wait.count;
  return found;
}

}  // namespace HEIST_NAMESPACE::detail
