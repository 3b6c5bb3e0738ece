#include "cluster_waits.hpp"

#include <bit>
#include <heist/detail/promise_state.hpp>
#include <optional>

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

namespace {

bool has(std::uint64_t set, std::size_t member) noexcept { return (set >> member & 1) != 0; }
constexpr std::uint64_t one(std::size_t member) noexcept { return std::uint64_t{1} << member; }

}  // namespace

std::uint64_t ClusterWaits::everybody() const noexcept { return one(cluster_.size()) - 1; }

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
ClusterWaits::Waits ClusterWaits::look() noexcept {
  Waits waits;
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

/// The members of whom this one needs any one in order to go on. A wait for null is handled apart,
/// because anybody may end it.
std::uint64_t ClusterWaits::awaited_by(const Waits& waits, const Wait& wait) const noexcept {
  for (unsigned index = 0; index < cluster_.size(); ++index) {
    if (waits[index].on != nullptr && waits[index].settles == wait.on) return one(index);
    if (&cluster_.loop(index) == wait.home) return one(index);
  }
  return wait.home == &cluster_ ? everybody() : 0;
}

/// The members that wait only for members that wait, too. Reserves that rest count among these,
/// because they pick nothing.
std::uint64_t ClusterWaits::find_stuck(const Waits& waits) const noexcept {
  const std::uint64_t resting = cluster_.reserves().resting() << cluster_.agents();
  std::uint64_t stuck = everybody();
  for (std::uint64_t before = 0; before != stuck;) {
    before = stuck;
    for (unsigned index = 0; index < cluster_.size(); ++index) {
      const std::uint64_t awaited = awaited_by(waits, waits[index]);
      const bool is_stuck =
          waits[index].on != nullptr && awaited != 0 && (awaited & ~(stuck | resting)) == 0;
      if (!is_stuck && !has(resting, index)) stuck &= ~one(index);
    }
  }
  return stuck & ~resting;
}

bool ClusterWaits::is_stuck(unsigned member) noexcept { return has(find_stuck(look()), member); }

// What a drain waits for.

std::string ClusterWaits::words_for(const Waits& waits, const Wait& wait) const {
  const std::uint64_t awaited = awaited_by(waits, wait);
  if (awaited == 0) return "something outside of the cluster";
  if (awaited == everybody()) return "a stealable task";
  return "a task of agent " + std::to_string(std::countr_zero(awaited));
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
  Waits both{};
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
