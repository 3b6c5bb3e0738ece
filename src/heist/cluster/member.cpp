#include "member.hpp"

#include <algorithm>
#include <utility>

#include "../loop/drive_scope.hpp"
#include "../loop/spin_until.hpp"
#include "cluster_core.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

/// Each sleep that nobody ends makes the next one longer, from the short one up to the long one.
constexpr std::chrono::milliseconds short_sleep{1};
constexpr std::chrono::hours long_sleep{1};
constexpr std::chrono::hours for_ever{24 * 365};

using Moment = std::optional<LoopTime::Clock::time_point>;

Moment earlier(Moment one, Moment other) noexcept {
  if (!one || !other) return one ? one : other;
  return std::min(*one, *other);
}

}  // namespace

Member::Member(ClusterCore& cluster, LoopCore& loop, unsigned index) noexcept
    : Membership(cluster),
      cluster_(cluster),
      loop_(loop),
      ticks_(cluster.time()),
      index_(index),
      is_reserve_(index >= cluster.agents()) {}

Member* Member::here() noexcept {
  const LoopCore* loop = member_here();
  return loop != nullptr ? of(*loop) : nullptr;
}

// Picking.

LoopNode* Member::pick() noexcept {
  if (is_reserve_ && !may_pick()) return nullptr;
  if (cluster_.upkeep().wants_keeper(ticks_)) {
    const auto kept = cluster_.upkeep().keep(loop_, ticks_, ClusterUpkeep::Passes::portion);
    if (kept.limit != nullptr) return kept.limit;
    if (kept.has_passed) {
      if (!clear_passed()) return nullptr;
      if (SchedulerTask* limit = keep_delays()) return limit;
    }
  }
  if (cluster_.wants_sweep()) [[unlikely]]
    cluster_.sweep_some(loop_.aborted(), index_);
  for (auto& agent = loop_.on_agent();;) {
    LoopNode* node = pick_stealable();
    if (node == nullptr) {
      if (agent.goes_on || agent.queues.empty()) return nullptr;
      if (SchedulerTask* task = agent.try_pick()) return task;
    } else {
      if (node->ops->kind == LoopNodeKind::forked) return node;
      LevelCounts& counts = picked_counts();
      ++counts.stealable;
      if (!ClusterCore::is_aborted(*node)) return node;
      ++counts.aborted;
      loop_.aborted().discard_stealable(static_cast<SchedulerTask&>(*node));
    }
    if (!loop_.on_agent().may_pass_more())
      return nullptr;  // else picks again: the next task may be of a lower level
  }
}

int Member::picked_level() const noexcept { return cluster_.queues().picked_level(index_); }

inline LevelCounts& Member::picked_counts() noexcept {
  return loop_.on_agent().queues.counts(picked_level());
}

/// Returns null when what is to be run is bound, or when there is nothing.
inline LoopNode* Member::pick_stealable() noexcept {
  const bool has_policy = loop_.on_agent().policy.is_wanted();
  std::chrono::nanoseconds now{};
  if (has_policy) [[unlikely]] {
    now = loop_.on_agent().policy.now();
    if (const auto picked = pick_by_policy(now)) return *picked;
  }
  LoopNode* node = pick_first(loop_.on_agent().queues.top_level());
  if (has_policy) [[unlikely]]
    note_pick(node, now);
  return node;
}

/// Picks a stealable task, unless a bound one comes first; `bound` is the highest level of bound
/// tasks, or -1. Returns null in that case, when nothing is runnable, or when the pick has to go on
/// later.
inline LoopNode* Member::pick_first(int bound) noexcept {
  for (;;) {
    LoopNode* node = cluster_.queues().pick(index_, bound);
    if (node == nullptr || cluster_.may_run(*node)) return node;
    if (!loop_.on_agent().may_pass_more()) return nullptr;
  }
}

/// Picks a task of this level, whatever stands above it. Returns null when nothing is runnable
/// there.
LoopNode* Member::pick_at(int level) noexcept {
  for (;;) {
    LoopNode* node = cluster_.queues().pick_at(index_, level);
    if (node == nullptr || cluster_.may_run(*node)) return node;
    if (!loop_.on_agent().may_pass_more()) return nullptr;
  }
}

/// Takes the stealable task that has been late for longest, unless one of this loop's own tasks has
/// been late for longer still (WAIT).
LoopNode* Member::pick_late(std::chrono::nanoseconds now, const LatePick& own) noexcept {
  LateLooks* const looks = loop_.on_agent().policy.looks();
  if (looks == nullptr || !looks->is_due(now)) return nullptr;
  LoopNode* node = take_late(now, own.end);
  looks->end(now, node != nullptr || own.level >= 0);
  return node;
}

LoopNode* Member::take_late(std::chrono::nanoseconds now, std::chrono::nanoseconds limit) noexcept {
  for (;;) {
    LoopNode* node = cluster_.queues().take_late(index_, cluster_.longest_waits(),
                                                 static_cast<std::uint64_t>(now.count()),
                                                 static_cast<std::uint64_t>(limit.count()));
    if (node == nullptr || cluster_.may_run(*node)) return node;
    if (!loop_.on_agent().may_pass_more()) return nullptr;
  }
}

/// Picks with a continuation cap or a maximum wait; each agent counts only its own picks. Returns
/// nothing when it is the turn of the task that is first by level. Returns null when
/// PickPolicy::pop() has the next task.
std::optional<LoopNode*> Member::pick_by_policy(std::chrono::nanoseconds now) noexcept {
  auto& agent = loop_.on_agent();
  auto& run = agent.policy.run();
  const LatePick own = agent.policy.find_late(agent.queues, now, agent.next_enqueue_order);
  LoopNode* node = pick_late(now, own);
  if (node == nullptr && own.level >= 0) return nullptr;
  const int tasks = run.level_of_tasks();
  const bool is_first =
      agent.queues.top_level() <= run.level() && !cluster_.queues().may_have_above(run.level());
  if (node == nullptr && agent.policy.has_pass(now) && is_first) {
    const bool has_bound = agent.queues.has_tasks_at(tasks);
    if (!has_bound || !run.is_bounds_turn()) node = pick_at(tasks);
    if (node == nullptr && has_bound) return nullptr;
  }
  if (node == nullptr) return std::nullopt;
  note_pick(node, now);
  return node;
}

/// `node` is the stealable task or continuation that was picked, or null.
void Member::note_pick(const LoopNode* node, std::chrono::nanoseconds now) noexcept {
  if (node == nullptr) return;
  loop_.on_agent().policy.run().note_pick(picked_level(), now);
}

SchedulerTask* Member::keep_delays() noexcept {
  auto& upkeep = cluster_.upkeep();
  if (!upkeep.wants_keeper(ticks_)) return nullptr;
  return upkeep.keep(loop_, ticks_, ClusterUpkeep::Passes::none).limit;
}

bool Member::collect_aborted() noexcept { return cluster_.upkeep().collect_aborted(loop_, ticks_); }

/// Clears away what the keeper has passed to this agent, and more if there is time. Nothing of that
/// is left when this returns, because the task that comes next may be long, and what waits for
/// these ends would wait for it, however many other agents are free. Returns false when a time
/// limit comes first.
bool Member::clear_passed() noexcept {
  loop_.reap_some();
  loop_.on_agent().clearing.go_on(loop_.time(), [this]() noexcept {
    loop_.assert_agent();
    if (!cluster_.upkeep().pass_some_to(loop_, ticks_)) return false;
    loop_.reap_some();
    return true;
  });
  return loop_.collect_made();
}

// Forking.

// Searching and sleeping.

void Member::end_search() noexcept {
  loop_.on_agent().is_searching = false;
  const bool others_sleep = cluster_.sleepers().idle().end_search();
  if (!others_sleep) return;
  if (cluster_.queues().has_tasks(index_) || cluster_.has_posts_by_now()) {
    cluster_.sleepers().notify(index_);
  }
  cluster_.upkeep().notify_watcher(cluster_.keeper().next_due());
}

bool Member::wants_keeper() noexcept { return cluster_.upkeep().wants_keeper(ticks_); }

bool Member::has_more_urgent(int level) noexcept {
  return wants_keeper() || cluster_.queues().may_have_above(level);
}

void Member::show_words(UrgentLook& to) const noexcept {
  to.cluster_inbox = &cluster_.inbox_word();
  to.first_due = &cluster_.keeper().due_word();
  to.hint = &cluster_.queues().hint().word();
}

bool Member::has_work() noexcept {
  return loop_.has_work() || cluster_.queues().may_have_tasks() || wants_keeper();
}

void Member::park(Moment limit) noexcept {
  is_reserve_ ? park_reserve(limit) : park_among_all(limit);
}

void Member::park_among_all(Moment limit) noexcept {
  loop_.forget_rethrown();
  if (!std::exchange(loop_.on_agent().is_searching, true)) {
    cluster_.sleepers().idle().begin_search();
  }
  bool saw_work = false;
  spin_until(loop_.sleep(), cluster_, limit, [&] {
    loop_.assert_agent();
    if (is_reserve_ && cluster_.reserves().has_surplus(rank())) return true;
    saw_work = has_work() || loop_.poll_host_if_due();
    return saw_work || cluster_.refuses_tasks();  // a drain waits until all sleep
  });
  // This also holds when another agent has taken the task since. Then this agent goes on waiting as
  // before.
  if (saw_work || has_work()) return;
  loop_.sleep().prepare();
  loop_.sleep().count_one();
  if (announce_sleep()) wait(limit);
  end_sleep();
}

/// Called before the agent says that it sleeps.
void Member::note_what_is_left() noexcept {
  const auto& waiting = loop_.waiting();
  // relaxed, both: the operation that says that the agent sleeps publishes them.
  slept_until_.store(waiting.delays().next_expiry(), sync::relaxed);
  slept_holding_.store(waiting.held() != 0, sync::relaxed);
}

/// Announces that the agent sleeps. Returns false when there may be something to do.
bool Member::announce_sleep() noexcept {
  note_what_is_left();
  cluster_.sleepers().idle().announce(index_);
  cluster_.closing().note_sleep();
  return !cluster_.queues().has_tasks(index_) && !wants_keeper() && loop_.sleep().announce();
}

void Member::wait(Moment limit) noexcept {
  TimerKeeper& keeper = cluster_.keeper();
  auto deadline = earlier(loop_.on_agent().waiting.next_deadline(), limit);
  const TimerKeeper::Due until = keeper.next_due();
  // A keeper that is at work looks for a watcher once it has finished.
  watches_ = until != TimerKeeper::never && !keeper.has_keeper() && keeper.try_watch(index_, until);
  if (watches_) deadline = earlier(deadline, cluster_.time().steady_start_of(until));
  const bool overtaken = watches_ && (wants_keeper() || keeper.next_due() < until);
  if (!overtaken) loop_.sleep().until(deadline, loop_.counts().activity());
}

/// Takes back what the agent has announced. It may be called once more for the same sleep.
void Member::end_sleep() noexcept {
  loop_.sleep().end();
  if (std::exchange(watches_, false)) cluster_.keeper().stop_watching();
  cluster_.sleepers().idle().end_sleep(index_);
}

/// The agent is counted as a searcher until it says that it has found something. What others have
/// left to it goes to another agent then. (To publishers all this looks as if the agent had woken
/// by itself, and found a task of its own.)
void Member::end_wait() noexcept {
  end_sleep();
  end_search();
}

// Waiting within a task.

void Member::drop_before_wait() noexcept { cluster_.closing().drop_if_left(); }

bool Member::is_stuck() noexcept { return cluster_.waits().is_stuck(index_); }

std::string Member::find_long_waits(std::unique_ptr<SeenWaits>& seen) {
  return cluster_.waits().find_long_waits(index_, seen);
}

void Member::await_lookers() noexcept { cluster_.waits().await_lookers(); }

// Blocking.

bool Member::begin_blocking() noexcept {
  cluster_.closing().drop_if_left();
  loop_.give_to_cluster();
  if (std::exchange(is_blocked_, true)) return false;
  if (cluster_.reserve_setup().count == 0) return true;
  cluster_.reserves().enter(own_rank(), [this](unsigned rank) noexcept { wake_reserve(rank); });
  return true;
}

void Member::wake_reserve(unsigned rank) noexcept {
  const unsigned reserve = cluster_.agents() + rank;
  auto* threads = cluster_.reserve_setup().threads;
  if (threads != nullptr) return threads->wake_reserve(reserve);
  cluster_.loop(reserve).sleep().wake_up();
}

void Member::end_blocking() noexcept {
  is_blocked_ = false;
  if (cluster_.reserve_setup().count == 0) return;
  cluster_.reserves().leave(own_rank(), [this](unsigned rank) noexcept { wake_reserve(rank); });
}

// Reserves.

unsigned Member::rank() const noexcept { return index_ - cluster_.agents(); }

std::optional<unsigned> Member::own_rank() const noexcept {
  return is_reserve_ ? std::optional(rank()) : std::nullopt;
}

void Member::enlist() noexcept {
  cluster_.queues().enlist(index_ + 1);
  patience_ = cluster_.reserve_setup().idle;
  is_rested_ = false;
  cluster_.reserves().end_park(rank());
}

/// Whether the reserve looks for stealable tasks now. It stands down when it is not needed any
/// more. An absent reserve may have work of its own; then it is an agent like any other (CLU-1).
bool Member::may_pick() noexcept {
  const auto& agent = loop_.on_agent();
  auto& reserves = cluster_.reserves();
  if (reserves.stand_down(rank()) && agent.is_searching) end_search();
  return reserves.is_present(rank()) || !agent.queues.empty();
}

/// Parks the reserve thread until it is needed. Its timeout grows each time it wakes for nothing,
/// so that the reserves of an idle cluster wake ever less often.
void Member::park_reserve(Moment limit) noexcept {
  if (is_rested_ && has_ended()) {
    loop_.stop_request().heed();
    return;
  }
  Moment until;
  if (patience_ < for_ever) until = LoopTime::Clock::now() + patience_;
  const bool is_present = cluster_.reserves().is_present(rank());
  is_present ? park_among_all(earlier(limit, until)) : sleep_as_reserve(earlier(limit, until));
  is_rested_ = until && LoopTime::Clock::now() >= *until;
  if (!is_rested_) {
    patience_ = cluster_.reserve_setup().idle;
  } else if (patience_ < long_sleep) {
    patience_ = std::max<std::chrono::nanoseconds>(2 * patience_, short_sleep);
  }
}

/// Sleeps without being one of the agents that posts wake (ClusterSleepers).
void Member::sleep_as_reserve(Moment limit) noexcept {
  loop_.forget_rethrown();
  if (loop_.has_work()) return;
  loop_.sleep().prepare();
  if (!announce_rest()) return;
  if (loop_.sleep().announce()) {
    loop_.sleep().until(earlier(limit, loop_.on_agent().waiting.next_deadline()),
                        loop_.counts().activity());
    loop_.sleep().end();
  }
  cluster_.reserves().end_park(rank());
}

/// Announces that the reserve rests. Returns false when it is needed.
bool Member::announce_rest() noexcept {
  loop_.sleep().count_one();
  note_what_is_left();
  if (!cluster_.reserves().try_park(rank())) return false;
  cluster_.closing().note_sleep();
  return true;
}

/// Whether the reserve is absent and nobody could give it anything to do, because only its Agent
/// and the cluster know its loop.
bool Member::has_ended() noexcept {
  constexpr std::uint32_t own_references = 2;
  const auto& waiting = loop_.on_agent().waiting;
  return !cluster_.reserves().is_present(rank()) && !loop_.has_work() && waiting.delays().empty() &&
         waiting.held() == 0 && !loop_.is_shared_beyond(own_references);
}

bool Member::try_retire() noexcept { return !loop_.has_posts() && announce_rest(); }

void Member::withdraw() noexcept { cluster_.reserves().withdraw(rank()); }

}  // namespace HEIST_NAMESPACE::detail
