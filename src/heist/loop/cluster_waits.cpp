// Members of a cluster that wait for each other (CLU-5), and what a drain that does not get on waits for.
#include <heist/error.hpp>
#include <heist/promise_state.hpp>
#include <utility>

#include "agent_wait.hpp"
#include "cluster_hub.hpp"
#include "drain_watch.hpp"

namespace heist {

void LoopCore::begin_wait(const PromiseStateBase& on, const LoopCore* home) noexcept {
  AgentWait& wait = member_.wait;
  // relaxed: the agent's own slot.
  ControlledTask* const task = running_.load(sync::relaxed);
  const auto promise_of = task != nullptr ? task->task_ops().promise : nullptr;
  // relaxed, all: published by what follows.
  wait.settles.store(promise_of != nullptr ? promise_of(*task) : nullptr, sync::relaxed);
  wait.home.store(home, sync::relaxed);                                 // relaxed: as above.
  wait.count.store(wait.count.load(sync::relaxed) + 1, sync::relaxed);  // relaxed: as above.
  wait.on.store(&on, sync::edge("wait:begin", sync::seq_cst));
}

void LoopCore::end_wait() noexcept {
  member_.wait.on.store(nullptr, sync::edge("wait:end", sync::seq_cst));
  if (member_.hub != nullptr) member_.hub->await_lookers();
}

void ClusterHub::await_lookers() noexcept {
  for (;;) {
    const auto lookers = lookers_.load(sync::edge("wait:end", sync::seq_cst));
    if (lookers == 0) return;
    wait_on_word(lookers_, lookers, {});
  }
}

/// What a member waited for at one moment.
struct ClusterHub::Wait {
  const PromiseStateBase* on = nullptr;  ///< to be compared only, from the end of the look on
  const PromiseStateBase* settles = nullptr;
  const LoopCore* home = nullptr;
  std::uint32_t count = 0;

  friend bool operator==(const Wait&, const Wait&) = default;
};

struct AgentWaiting::Seen {
  ClusterHub::Waits waits;
};

namespace {

#if defined(HEIST_MODEL)
constexpr bool looks_again = false;  // models know no real time
#else
constexpr bool looks_again = true;
#endif

}  // namespace

AgentWaiting::AgentWaiting(const PromiseStateBase& on, const LoopCore* home)
    : agent_(LoopCore::member_here()) {
  if (agent_ == nullptr) agent_ = loop_of_this_thread;
  if (agent_ == nullptr) return;
  agent_->begin_wait(on, home);
  ClusterHub* const hub = agent_->membership().hub;
  if (hub == nullptr) return;
  if (looks_again) look_at_ = Clock::now() + patience_for_waits();
  if (!hub->is_stuck(*agent_)) return;
  agent_->end_wait();
  throw NotAllowedError(
      "waiting here would never end: all agents that could settle the promise wait as well");
}

AgentWaiting::~AgentWaiting() {
  if (agent_ != nullptr) agent_->end_wait();
}

void AgentWaiting::look() noexcept {
  look_at_ = Clock::now() + patience_for_waits();
  try {
    if (seen_ == nullptr) seen_ = std::make_unique<Seen>();
    const std::string found = agent_->membership().hub->find_long_waits(*agent_, seen_->waits);
    if (found.empty()) return;
    look_at_ = std::nullopt;
    const std::string text =
        "several agents have waited for long, which never ends if it is for each other: " + found;
    report_error(ErrorOrigin::wait, Reason{TimeoutError(text.c_str())});
  } catch (
      ...) {  // NOLINT(bugprone-empty-catch): no memory for the words; the next look may have it
  }
}

namespace {

bool has(std::uint64_t set, std::size_t member) noexcept { return (set >> member & 1) != 0; }
constexpr std::uint64_t one(std::size_t member) noexcept { return std::uint64_t{1} << member; }

}  // namespace

/// A looker.
ClusterHub::Wait ClusterHub::read_wait(const LoopCore& member) noexcept {
  const AgentWait& wait = member.member_.wait;
  const auto* const on = wait.on.load(sync::edge("wait:look", sync::seq_cst));
  if (on == nullptr || on->is_settled()) return {};
  // relaxed, all: ordered by the load before.
  return {.on = on,
          .settles = wait.settles.load(sync::relaxed),
          .home = wait.home.load(sync::relaxed),     // relaxed: as above.
          .count = wait.count.load(sync::relaxed)};  // relaxed: as above.
}

/// All waits that lasted from the end of a first look to the beginning of a second one: at one moment all of them did.
ClusterHub::Waits ClusterHub::look_at_waits() noexcept {
  Waits waits;
  lookers_.fetch_add(1, sync::edge("wait:looked", sync::seq_cst));
  for (unsigned index = 0; index < size(); ++index) waits[index] = read_wait(*member(index));
  for (unsigned index = 0; index < size(); ++index) {
    if (read_wait(*member(index)) != waits[index]) waits[index] = {};
  }
  lookers_.fetch_sub(1, sync::edge("wait:looked", sync::seq_cst));
  wake_all_on_word(lookers_);
  return waits;
}

/// Those of whom it needs one to go on: null is told apart, as anybody may end such a wait.
std::uint64_t ClusterHub::awaited_by(const Waits& waits, const Wait& wait) const noexcept {
  for (unsigned index = 0; index < size(); ++index) {
    if (waits[index].on != nullptr && waits[index].settles == wait.on) return one(index);
    if (member(index).get() == wait.home) return one(index);
  }
  return wait.home == &loop_ ? everybody() : 0;
}

/// Members that wait, each for such as wait, too; reserves that rest pick nothing.
std::uint64_t ClusterHub::find_stuck(const Waits& waits) const noexcept {
  const std::uint64_t resting = reserves_.resting() << agents();
  std::uint64_t stuck = everybody();
  for (std::uint64_t before = 0; before != stuck;) {
    before = stuck;
    for (unsigned index = 0; index < size(); ++index) {
      const std::uint64_t awaited = awaited_by(waits, waits[index]);
      const bool is_stuck =
          waits[index].on != nullptr && awaited != 0 && (awaited & ~(stuck | resting)) == 0;
      if (!is_stuck && !has(resting, index)) stuck &= ~one(index);
    }
  }
  return stuck & ~resting;
}

bool ClusterHub::is_stuck(const LoopCore& agent) noexcept {
  return has(find_stuck(look_at_waits()), agent.member_.index);
}

// What a drain waits for.

std::string ClusterHub::words_for(const Waits& waits, const Wait& wait) const {
  const std::uint64_t awaited = awaited_by(waits, wait);
  if (awaited == 0) return "something outside of the cluster";
  if (awaited == everybody()) return "a stealable task";
  return "a task of agent " + std::to_string(std::countr_zero(awaited));
}

/// Each with a semicolon and a space behind it.
std::string ClusterHub::words_for_all(const Waits& waits) const {
  std::string words;
  for (unsigned index = 0; index < size(); ++index) {
    if (waits[index].on == nullptr) continue;
    words += "agent " + std::to_string(index) + " waits, in a task, for " +
             words_for(waits, waits[index]) + "; ";
  }
  return words;
}

std::string ClusterHub::find_long_waits(const LoopCore& agent, Waits& before) {
  const Waits now = look_at_waits();
  Waits both{};
  unsigned count = 0;
  std::optional<unsigned> first;
  for (unsigned index = 0; index < size(); ++index) {
    if (now[index].on == nullptr || now[index] != before[index]) continue;
    both[index] = now[index];
    if (!first) first = index;
    ++count;
  }
  before = now;
  if (count < 2 || first != agent.member_.index) return {};
  std::string words = words_for_all(both);
  words.resize(words.size() - 2);
  return words;
}

DrainObstacle ClusterHub::find_obstacle() {
  const Waits waits = look_at_waits();
  DrainObstacle found{.what = words_for_all(waits), .mark = 0};
  for (const Wait& wait : waits) found.mark += wait.count;
  const bool may_wait_for_held = loop_.close_terms().wait_for_delayed() || !found.what.empty();
  if (may_wait_for_held && holds_something()) {
    found.what += "tasks of a suspended scheduler wait for its resume; ";
    // Unless something else gets on.
    for (const auto& loop : sleepers_.loops()) found.mark += loop->stats().tasks_run;
  }
  if (!found.what.empty()) found.what.resize(found.what.size() - 2);
  return found;
}

}  // namespace heist
