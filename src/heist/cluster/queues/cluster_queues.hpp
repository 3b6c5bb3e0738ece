// ClusterQueues: all stealable tasks of a cluster, and how an agent picks among them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/detail/levels.hpp>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/sync.hpp>
#include <span>
#include <utility>
#include <vector>

#include "abort_sweep.hpp"
#include "agent_groups.hpp"
#include "agent_queues.hpp"
#include "injection_queue.hpp"
#include "level_index.hpp"
#include "overdue_search.hpp"
#include "task_holders.hpp"
#include "urgency_hint.hpp"

namespace HEIST_NAMESPACE::detail {

// Roles   poster: any thread.  agent: one of a few, by its index.
// I1      (CLU-1) pick() returns no task while another one, of a higher level or above `bound`,
//         stays unclaimed that was published, with its hint, before pick() began.
// I2      A thief that takes more tasks than it starts puts the others into its own ring before it
//         starts the one.
// Order   Within a level (CLU-2): bins, rings and shared queues are first in, first out. An agent
//         looks first at its own ring, then at what forks have left behind, and then by turns at
//         bins, shared queues and the others' rings (SourceRotation). At every `others_turn`th pick
//         of the level the agent looks at its own ring last.
// Groups  Each group of agents has bins of its own, for what is posted near it. Agents look first
//         at bins and rings of their own group, and at all others before they find nothing. So
//         that none waits for ever, every eighth bin comes from the groups by turns, and every
//         eighth time that an agent steals it goes on with a round of all agents.
// Late    (WAIT) With maximum waits an agent also looks at the first task of every ring and of
//         every signal's queue. It takes the task whose maximum ended first: exactly the task that
//         it saw, or none.
// Progress  lock-free; a frozen poster, agent or re-prioritiser stops nobody.
// Proof   stress/model/models/cluster_*.cpp, docs/adr/0011, 0018.
/// `Sleepers`: its notify(agent) is called after a task was published. It wakes an agent if one
/// sleeps and none searches, one of that agent's group first.
template <ClusterSizes sizes, class Sleepers>
class ClusterQueues {
  static_assert(sizes.ring >= 2 * sizes.bin);
  static_assert(sizes.levels <= level_count);

 public:
  using Forks = typename AgentQueues<sizes>::Forks;

  /// Errors: std::bad_alloc.
  ClusterQueues(unsigned agents, Sleepers& sleepers)
      : ClusterQueues(agents, agents, AgentGroups(agents), sleepers) {}
  /// Only the first `enlisted` agents pick from the beginning. The last two places never pick: the
  /// last but one is for drain(), and the last one for count_waiting().
  ClusterQueues(unsigned agents, unsigned enlisted, AgentGroups groups, Sleepers& sleepers)
      : sleepers_(sleepers),
        groups_(std::move(groups)),
        index_(agents, enlisted),
        bins_(groups_.count()),
        rings_(make_holders(sizes.levels, agents)),
        forks_(make_holders(sizes.levels / 2, agents)),
        agents_(agents) {}

  /// To be called before the queues are used, if take_late() will be called with these waits.
  /// Errors: std::bad_alloc.
  void keep_stamps(const LongestWaits& most) {
    for (int level = 0; level <= top_level; ++level) {
      if (most[static_cast<std::size_t>(level / 2)] == 0) continue;
      for (Agent& agent : agents_) agent.ring(level).keep_stamps();
    }
  }

  // What any thread may call. `near` is an agent of the group to which the caller is nearest.

  void post(LoopNode& task, int level, unsigned near = 0) noexcept {
    bins_of(groups_.of(near), level).post(task);
    published(level, near);
  }
  /// Posts to the queue of a signal. That signal may be destroyed meanwhile, or before.
  void post(SignalQueueEntry& task, unsigned near = 0) noexcept {
    const auto make_ticket = [&task]() noexcept { return task.make_ticket(); };
    SignalQueue& queue = task.queue;
    const auto pair = task.begin_post();
    queue.push(task);
    const auto place = queue.where();
    publish(queue, SignalQueue::level_of(place), make_ticket, near);
    // The next move may go back to the level that this move left.
    if (SignalQueue::is_moving(place))
      publish(queue, SignalQueue::from_of(place), make_ticket, near);
    task.end_post();
  }
  /// Every pick that begins after the return uses the level that `level()` reads (PRI-3). The pair
  /// keeps enough memory for one move. When no other memory is left and two moves of a queue meet,
  /// one may have to wait for the other, or for memory.
  template <class Level>
  void move(SignalQueues& pair, SignalQueue& queue, Level&& level, unsigned near = 0) noexcept {
    const auto make_ticket = [&pair, &queue]() noexcept { return pair.make_ticket(queue); };
    queue.start_move(level);
    for (auto place = queue.where(); SignalQueue::is_moving(place); place = queue.where()) {
      publish(queue, SignalQueue::level_of(place), make_ticket, near);
      index_.count_move();
      queue.end_move(place);
    }
  }

  // What one of the agents calls.

  /// The agents before `count` pick from now on.
  void enlist(unsigned count) noexcept { index_.enlist(count); }
  /// Called when a task that runs on `agent` posts another one.
  void post_from(unsigned agent, LoopNode& task, int level) noexcept {
    if (!own(agent, level).push(task)) return post(task, level, agent);
    note_tasks(agent, level);
    published(level, agent);
  }
  /// The deque for what tasks of the level leave behind on `agent`, which alone pushes and pops.
  Forks& forks(unsigned agent, int level) noexcept { return agents_[agent].forks(level); }
  /// Leaves the continuation of a task that runs on `agent` behind, until it is popped or stolen.
  /// `forks`: those of the agent and level. Returns false when there is no room for it.
  [[nodiscard]] bool fork(unsigned agent, Forks& forks, LoopNode& continuation,
                          int level) noexcept {
    if (!forks.push(continuation)) return false;
    if (agents_[agent].note_forks(level)) fork_holders(level).add(agent);
    published(level, agent);
    return true;
  }
  /// Takes what is to be started next. Returns null when that is a bound task, or when nothing is
  /// runnable. `bound` is the highest level of the bound tasks, or -1 when there are none.
  [[nodiscard]] LoopNode* pick(unsigned agent, int bound) noexcept {
    forget_forks(agent);
    for (;;) {
      const int hint = hint_.level();
      const int stealable = best_level(agent);
      const int best = std::max(bound, stealable);
      // Only a task whose publisher is about to raise the hint can stand above the hint. An agent
      // that has nothing of its own looks for such tasks, too.
      if (hint > best) {
        if (LoopNode* task = search_above(agent, best, hint)) return task;
        const auto announced = hint_.announce(best);
        if (LoopNode* task = search_above(agent, best)) return task;
        hint_.lower(announced, best);
        if (best < 0) return nullptr;
      } else if (best < 0) {
        return search_above(agent, best);
      }
      SourceRotation& turns = agents_[agent].turns(best);
      if (turns.begin_pick(sizes.others_turn)) {
        if (LoopNode* task = search_level(agent, best)) return task;
      }
      if (stealable < bound || (stealable == bound && turns.is_bounds_turn())) return nullptr;
      if (LoopNode* task = agents_[agent].claim(best)) return task;
    }
  }
  /// Like pick(), but takes a task of this level only, whatever stands above it.
  [[nodiscard]] LoopNode* pick_at(unsigned agent, int level) noexcept {
    if (LoopNode* task = agents_[agent].claim(level)) return task;
    return search_level(agent, level);
  }
  /// Takes, whatever its level, the task whose maximum wait ended first, if it ended by `now` and
  /// before `limit`. Returns null when there is no such task. What forks have left behind is not
  /// looked at.
  [[nodiscard]] LoopNode* take_late(unsigned agent, const LongestWaits& most, std::uint64_t now,
                                    std::uint64_t limit) noexcept {
    const LevelIndex::Inside inside(index_, agent);
    for (;;) {
      OverdueSearch<typename Agent::Ring> search(most, now, limit);
      for (int level = top_level; level >= 0; --level) {
        if (search.wants(level)) look_for_late(search, agent, level);
      }
      if (search.level() < 0) return nullptr;
      LoopNode* task = search.take(index_, agent);
      if (task == nullptr) continue;
      agents_[agent].note_pick(search.level());
      if (search.is_in_ring_of_other(own(agent, search.level()))) {
        agents_[agent].count_stolen(1, *task, TraceEvent::unknown_agent);
      }
      return task;
    }
  }
  /// Called by an agent that is the sweeper: goes on from `at` through `bins` bins, or through as
  /// many cells of signals' queues as that many bins hold tasks. Calls `drop(LoopNode&)` for each
  /// task of a bin for which `is_dead(LoopNode&)` is true. Cells of aborted tasks are empty by
  /// then. (Tasks in rings stay, because rings have few places.) Returns false at the end.
  template <class IsDead, class Drop>
  [[nodiscard]] bool sweep(unsigned agent, SweepPlace& at, unsigned bins, IsDead&& is_dead,
                           Drop&& drop) noexcept {
    for (; bins > 0 && at.level <= top_level; --bins) {
      if (at.is_in_bins) {
        at.is_in_bins = sweep_bin(agent, at, is_dead, drop);
      } else if (!index_.sweep(agent, at.level, sizes.bin, at.left)) {
        at = {.level = at.level + 1, .left = at.left};
      }
    }
    return at.level <= top_level;
  }
  /// The level of what this agent took last.
  [[nodiscard]] int picked_level(unsigned agent) const noexcept {
    return agents_[agent].picked_level();
  }
  /// Whether a search would find a task. It sees every publication that was complete before the
  /// call.
  [[nodiscard]] bool has_tasks(unsigned agent) noexcept {
    const LevelIndex::Inside inside(index_, agent);
    for (int level = top_level; level >= 0; --level) {
      if (bins_have_tasks(level) || index_.has_tasks(agent, level)) return true;
      if (somebody_has_tasks(agent, level)) return true;
    }
    return false;
  }
  /// Takes out all tasks that have been published. Once nobody picks any more, that is everything.
  /// `agent` is the caller's place. Calls `drop(LoopNode&, level)`.
  template <class Drop>
  void drain(unsigned agent, Drop&& drop) noexcept {
    std::uint64_t moves = 0;
    do {  // A queue may move to a level that has been drained.
      moves = index_.moves();
      drain_once(agent, drop);
    } while (index_.moves() != moves);
  }
  /// Like has_tasks(), at the cost of a load: it may return true although there is no task.
  [[nodiscard]] bool may_have_tasks() const noexcept { return may_have_above(-1); }
  [[nodiscard]] bool may_have_above(int level) const noexcept { return hint_.level() > level; }
  [[nodiscard]] const UrgencyHint& hint() const noexcept { return hint_; }
  /// How many tasks and continuations this agent has claimed in other agents' rings and deques.
  [[nodiscard]] std::uint64_t stolen(unsigned agent) const noexcept {
    return agents_[agent].stolen();
  }

  /// The number of tasks and continuations that wait at a level. `place` is the caller's alone for
  /// the time of the call (see Epochs).   Cost: it reads the words of all bins, and walks over what
  /// moves with signals.
  [[nodiscard]] std::size_t count_waiting(unsigned place, int level) {
    std::size_t waiting = 0;
    for (const BinsOfGroup& bins : bins_) {
      waiting += bins[static_cast<std::size_t>(level)].count();
    }
    for (const Agent& agent : agents_) waiting += agent.ring(level).count();
    count_signal_queues(place, level,
                        [&](const SignalQueue& /*queue*/, std::size_t tasks) { waiting += tasks; });
    return waiting;
  }
  /// The same for the queues that move with signals: see LevelIndex::count_queues().
  template <class Visit>
  void count_signal_queues(unsigned place, int level, Visit&& visit) {
    const LevelIndex::Inside inside(index_, place);
    index_.count_queues(level, visit);
  }

  /// Called by an agent: takes a task above `level`, and not above `highest`, or returns null.
  [[nodiscard]] LoopNode* search_above(unsigned agent, int level,
                                       int highest = top_level) noexcept {
    const LevelIndex::Inside inside(index_, agent);
    for (;;) {
      const auto moves = index_.moves();
      for (int at = highest; at > level; --at) {
        if (LoopNode* task = take_at(agent, at, level < 0)) return task;
      }
      if (index_.moves() == moves) return nullptr;
    }
  }

 private:
  friend struct QueueProbe;
  using Agent = AgentQueues<sizes>;
  using Bins = InjectionQueue<sizes.bins, sizes.bin>;
  static constexpr int top_level = static_cast<int>(sizes.levels) - 1;

  static std::vector<TaskHolders> make_holders(unsigned levels, unsigned agents) {
    std::vector<TaskHolders> holders;
    holders.reserve(levels);
    for (unsigned level = 0; level < levels; ++level) holders.emplace_back(agents);
    return holders;
  }
  /// The bins of each level.
  using BinsOfGroup = std::array<Bins, sizes.levels>;
  Bins& bins_of(unsigned group, int level) noexcept {
    return bins_[group][static_cast<std::size_t>(level)];
  }
  Agent::Ring& own(unsigned agent, int level) noexcept { return agents_[agent].ring(level); }
  /// Whose rings, or whose deques, may hold tasks of the level.
  TaskHolders& ring_holders(int level) noexcept { return rings_[static_cast<std::size_t>(level)]; }
  TaskHolders& fork_holders(int level) noexcept {
    return forks_[static_cast<std::size_t>(level / 2)];
  }

  /// Called by the agent after it has pushed tasks to its ring, before it raises the hint.
  void note_tasks(unsigned agent, int level) noexcept {
    if (agents_[agent].note_tasks(level)) ring_holders(level).add(agent);
  }
  /// The highest level at which the agent's own rings hold something, or -1.
  int best_level(unsigned agent) noexcept {
    for (;;) {
      const int level = agents_[agent].highest_noted();
      if (level < 0 || own(agent, level).has_tasks()) return level;
      agents_[agent].forget_tasks(level);
      ring_holders(level).remove(agent);
    }
  }
  /// Called by an agent that picks: it has left nothing behind (TreeRun).
  void forget_forks(unsigned agent) noexcept {
    if (!agents_[agent].has_noted_forks()) [[likely]]
      return;
    for (int level = 1; level <= top_level; level += 2) {
      if (agents_[agent].forget_forks(level)) fork_holders(level).remove(agent);
    }
  }
  [[nodiscard]] bool somebody_has_tasks(unsigned agent, int level) noexcept {
    const auto has_in_ring = [&](unsigned other) { return own(other, level).has_tasks(); };
    if (find_near(agent, ring_holders(level), has_in_ring)) return true;
    const auto has_forks = [&](unsigned other) { return forks(other, level).has_tasks(); };
    return Agent::has_forks(level) && find_near(agent, fork_holders(level), has_forks);
  }
  [[nodiscard]] bool bins_have_tasks(int level) noexcept {
    return std::ranges::any_of(bins_, [level](BinsOfGroup& bins) {
      return bins[static_cast<std::size_t>(level)].has_tasks();
    });
  }
  /// Looks at the other holders, those of the agent's own group first.
  template <class Look>
  bool find_near(unsigned agent, const TaskHolders& holders, Look&& look) const noexcept {
    if (groups_.count() == 1) return holders.find_after(agent, look);
    return holders.find_near(agent, groups_.range(groups_.of(agent)), look);
  }

  void published(int level, unsigned near) noexcept {
    hint_.published(level);
    sleepers_.notify(near);
  }
  template <class Make>
  void publish(SignalQueue& queue, int level, Make&& make_ticket, unsigned near) noexcept {
    index_.ensure(queue, level, make_ticket);
    published(level, near);
  }

  template <class Drop>
  void drain_once(unsigned agent, Drop& drop) noexcept {
    for (int level = top_level; level >= 0; --level) {
      while (LoopNode* task = take_from_bins(agent, level)) {
        while (task != nullptr) drop(*std::exchange(task, task->next), level);
      }
      for (unsigned other = 0; other < agents_.size(); ++other) {
        while (LoopNode* task = own(other, level).claim_one()) drop(*task, level);
      }
      while (LoopNode* task = take_shared(agent, level)) drop(*task, level);
    }
  }

  /// Takes a task of one level.   Precondition: the agent is inside an epoch.
  LoopNode* take_at(unsigned agent, int level, bool several) noexcept {
    agents_[agent].note_pick(level);
    if (Agent::has_forks(level)) {
      if (LoopNode* continuation = steal_fork(agent, level)) return continuation;
    }
    SourceRotation& turns = agents_[agent].turns(level);
    for (const auto place : turns.order()) {
      LoopNode* task = take_from(place, agent, level, several);
      if (task == nullptr) continue;
      turns.found(place, sizes.bin);
      return task;
    }
    return nullptr;
  }
  LoopNode* take_from(SourceRotation::Place place, unsigned agent, int level,
                      bool several) noexcept {
    switch (place) {
      case SourceRotation::Place::bins:
        return take_bin(agent, level);
      case SourceRotation::Place::rings:
        return steal(agent, level, several);
      case SourceRotation::Place::shared:
        break;
    }
    return index_.take(agent, level);
  }
  LoopNode* search_level(unsigned agent, int level) noexcept {
    const LevelIndex::Inside inside(index_, agent);
    return take_at(agent, level, false);
  }
  /// Looks for the task that has been late for longest. The agent is inside an epoch. Tasks in a
  /// bin do not show since when they wait, so the agent moves bins into its own ring first.
  void look_for_late(OverdueSearch<typename Agent::Ring>& search, unsigned agent,
                     int level) noexcept {
    move_bins(agent, level);
    ring_holders(level).find_after(agent, [&](unsigned other) {
      search.look(level, own(other, level));
      return false;
    });
    index_.each_front(level, [&](SignalQueue& queue, const LinkedQueue::Front& front) noexcept {
      search.look(level, queue, front);
    });
  }
  /// Moves a bin of each group, as long as there is room. Where there is little, groups take turns.
  void move_bins(unsigned agent, int level) noexcept {
    const unsigned count = groups_.count();
    SourceRotation& turns = agents_[agent].turns(level);
    unsigned group = turns.first_late_group(count);
    for (unsigned left = count; left > 0 && own(agent, level).has_room(sizes.bin); --left) {
      LoopNode* tasks = bins_of(group, level).take();
      if (tasks != nullptr) turns.note_late_bin();
      publish_rest(agent, level, tasks);
      group = group + 1 < count ? group + 1 : 0;
    }
  }
  /// Returns false when this was the level's last bin.
  template <class IsDead, class Drop>
  bool sweep_bin(unsigned agent, SweepPlace& at, IsDead& is_dead, Drop& drop) noexcept {
    auto& bins = bins_of(at.group, at.level);
    if (at.end == 0) at.end = bins.end();
    const auto left_before = at.left;
    bins.sweep(at.bin, [&](LoopNode& node) noexcept {
      const bool stays = !is_dead(node);
      stays ? static_cast<void>(++at.left) : drop(node);
      return stays;
    });
    if (at.left != left_before) published(at.level, agent);  // others may have searched meanwhile
    if (at.bin < at.end) return true;
    at = {.level = at.level, .group = at.group + 1, .left = at.left};
    return at.group < groups_.count();
  }
  LoopNode* take_shared(unsigned agent, int level) noexcept {
    const LevelIndex::Inside inside(index_, agent);
    return index_.take(agent, level);
  }
  LoopNode* take_bin(unsigned agent, int level) noexcept {
    LoopNode* first = take_from_bins(agent, level);
    if (first != nullptr) publish_rest(agent, level, first->next);
    return first;
  }
  /// Takes the oldest tasks of the first group that has some, oldest first. Returns null when there
  /// is none.
  LoopNode* take_from_bins(unsigned agent, int level) noexcept {
    const unsigned count = groups_.count();
    unsigned group = agents_[agent].turns(level).first_group(groups_.of(agent), count);
    for (unsigned left = count; left > 0; --left) {
      if (LoopNode* tasks = bins_of(group, level).take()) return tasks;
      group = group + 1 < count ? group + 1 : 0;
    }
    return nullptr;
  }
  LoopNode* steal(unsigned agent, int level, bool several) noexcept {
    std::array<LoopNode*, sizes.bin> loot{};
    const std::span wanted(loot.data(), several ? loot.size() : 1);
    std::uint32_t count = 0;
    unsigned from = agent;
    const auto claim_of = [&](unsigned other) {
      if (other != agent) count = own(other, level).claim(wanted);
      if (count != 0) from = other;
      return count != 0;
    };
    SourceRotation& turns = agents_[agent].turns(level);
    if (turns.goes_round()) {
      ring_holders(level).find_after(turns.round(), claim_of);
      turns.end_round(from);
    } else {
      find_near(agent, ring_holders(level), claim_of);
    }
    if (count == 0) return nullptr;
    agents_[agent].count_stolen(count, *loot[0], from);
    for (unsigned at = 0; at < count; ++at) {
      loot[at]->next = at + 1 < count ? loot[at + 1] : nullptr;
    }
    publish_rest(agent, level, loot[0]->next);
    return loot[0];
  }
  /// Steals a continuation from another agent. The agent has none of its own, because an agent that
  /// picks has left nothing behind (TreeRun).
  LoopNode* steal_fork(unsigned agent, int level) noexcept {
    LoopNode* continuation = nullptr;
    unsigned from = agent;
    find_near(agent, fork_holders(level), [&](unsigned other) {
      if (other != agent) continuation = forks(other, level).steal();
      from = other;
      return continuation != nullptr;
    });
    if (continuation != nullptr) agents_[agent].count_stolen(1, *continuation, from);
    return continuation;
  }
  /// Publishes the tasks that came with a task, before that task is started (I2). Only an overfull
  /// bin holds more tasks than fit into the ring; the tasks that do not fit go back.
  void publish_rest(unsigned agent, int level, LoopNode* oldest) noexcept {
    if (oldest == nullptr) return;
    LoopNode* left = own(agent, level).push_chain(oldest);
    note_tasks(agent, level);
    Bins& bins = bins_of(groups_.of(agent), level);
    while (left != nullptr) bins.post(*std::exchange(left, left->next));
    published(level, agent);
  }

  Sleepers& sleepers_;
  const AgentGroups groups_;
  UrgencyHint hint_;
  LevelIndex index_;
  std::vector<BinsOfGroup> bins_;   ///< of each group
  std::vector<TaskHolders> rings_;  ///< for each level: whose ring may hold something
  std::vector<TaskHolders> forks_;  ///< for each level of continuations: whose deque may
  std::vector<Agent> agents_;
};

}  // namespace HEIST_NAMESPACE::detail
