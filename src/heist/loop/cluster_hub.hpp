// ClusterHub: what makes a loop stand for a cluster: its tasks are stealable, and run on the cluster's agents.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <heist/loop_node.hpp>
#include <heist/ref.hpp>
#include <heist/scheduler_task.hpp>
#include <heist/sync.hpp>
#include <optional>
#include <string>
#include <vector>

#include "../cluster/cluster_queues.hpp"
#include "../cluster/idle_agents.hpp"
#include "../cluster/keeper.hpp"
#include "../cluster/reserves.hpp"
#include "../os/word_wait.hpp"
#include "agent_role.hpp"
#include "drain_watch.hpp"
#include "loop_core.hpp"

namespace heist {

struct Reaction;
struct SignalLoop;

/// Sizes of the shipped queues; models have everything full at once.
#if defined(HEIST_MODEL)
inline constexpr ClusterSizes hub_sizes{
    .bins = 2, .bin = 2, .ring = 4, .forks = 2, .others_turn = 61};
#else
inline constexpr ClusterSizes hub_sizes{};
#endif

/// Who sleeps, and how to get them up.
class ClusterSleepers {
 public:
  explicit ClusterSleepers(std::vector<Ref<LoopCore>> loops) noexcept : loops_(std::move(loops)) {}

  /// Any thread, after publishing: wakes one agent, unless all are awake or one searches.
  void notify() noexcept {
    if (const auto agent = idle_.notify()) unpark(*agent);
  }
  /// Any thread: wakes this agent if it sleeps.
  void wake(unsigned agent) noexcept {
    if (idle_.wake(agent)) unpark(agent);
  }
  [[nodiscard]] IdleAgents& idle() noexcept { return idle_; }
  [[nodiscard]] const std::vector<Ref<LoopCore>>& loops() const noexcept { return loops_; }

 private:
  void unpark(unsigned agent) noexcept;

  IdleAgents idle_;
  std::vector<Ref<LoopCore>> loops_;
};

/// Who has the reserves' threads.
class ReserveThreads {
 public:
  /// A member that is about to block: gets this one up, or starts its thread.
  virtual void get_up(unsigned member) noexcept = 0;

 protected:
  ~ReserveThreads() = default;
};

/// The part of a cluster's loop that no other loop has. Runnable tasks go to queues that all agents pick from; delayed
/// ones and messages go to the loop's inbox and wheel, which belong to whichever agent is the keeper.
///
/// Roles   poster: any thread.  agent: a member, on its own loop's thread.  keeper: see Keeper; it is the agent of the
///         cluster's loop meanwhile, and runs no user code.  closer: a member that leaves, or any late poster.
///         reserve: one of the last members; an agent while another member blocks (Reserves).
/// I1      A task is in the inbox, in the wheel, or in the queues; whoever takes it from the queues disposes of it. Who
///         destroys its callback, the holder or the abort's reaper, is who takes its contents (ControlledTask).
/// I2      Once a member begins to leave, what is runnable is dropped: by those that leave, by posters, by members that
///         wait. (A task that waits for another one could never end otherwise, and its agent never leave.) A task that
///         only posts leaves it to them: what is dropped runs users' destructors.
/// I3      So is what waits for its time or for a resume, by those that leave, that wait, that arm it late, or that have kept
///         the delays: who finds the keeper's role taken leaves it to who has it, who looks for what was armed meanwhile.
///         The last member waits for who has it, and keeps it.
/// Edge hub: close <-> post. Publish, then read drops_; set drops_, then drop what is found.
/// Edge hub: leave -> leave. Carries what the members did to the cluster's loop to the last one.
/// Edge hub: drop -> drop. One after another drops; who leaves it to another one has published before.
/// Edge hub: await <-> sleep. Announce (IdleAgents), then see who awaits; await, then see who sleeps.
/// Lifetime  the cluster's loop owns it; it shares the members' loops, which know it until they are closed.
/// Proof   stress/model/models/cluster_*.cpp.
class ClusterHub {
 public:
  /// `loop`: the cluster's.   Errors: std::bad_alloc.
  ClusterHub(LoopCore& loop, std::vector<Ref<LoopCore>> members, const ReserveSetup& reserves,
             const MaxWait& most);
  ClusterHub(const ClusterHub&) = delete;
  ClusterHub& operator=(const ClusterHub&) = delete;

  // Any thread (cluster_post.cpp).

  /// Enqueues a task. False: the cluster is closed, the task is still the caller's.
  [[nodiscard]] bool post(SchedulerTask& task) noexcept;
  /// The same for a signal's time limit; `below` as in LoopCore::post_limit().
  [[nodiscard]] bool post_limit(SchedulerTask& limit, Inbox::Below& below) noexcept;
  /// Enqueues a continuation that waits for a promise. False: the cluster is closed.
  [[nodiscard]] bool deliver(Reaction& reaction) noexcept;
  /// A message is in the loop's inbox.
  void notify_keeper() noexcept { notify_watcher(now_due); }
  /// One is there that only clears away: agents that sleep are not got up for each (CLU-4), but memory has a bound (ABT-5).
  void count_to_clear() noexcept {
    // relaxed: only a number.
    if (to_clear_.fetch_add(1, sync::relaxed) % most_to_clear == most_to_clear - 1) notify_keeper();
  }
  /// The priority of a signal changes: its queues move (PRI-3).
  void move(SignalLoop& part, SharedPair& pair) noexcept;
  /// For a task or continuation that takes its priority from this part's signal.   Errors: std::bad_alloc.
  [[nodiscard]] SharedCell* make_cell(SignalLoop& part, LoopNode& node, bool is_continuation);
  /// Its tasks are not started by any pick that begins after the return, until resume().   Returns
  /// the number of the change.
  std::uint64_t suspend(SchedulerCore& scheduler) noexcept;
  std::uint64_t resume(SchedulerCore& scheduler) noexcept;
  /// Agents and reserves.
  [[nodiscard]] unsigned size() const noexcept {
    return static_cast<unsigned>(sleepers_.loops().size());
  }
  [[nodiscard]] unsigned agents() const noexcept { return size() - reserve_setup_.count; }
  [[nodiscard]] const Ref<LoopCore>& member(unsigned agent) const noexcept {
    return sleepers_.loops()[agent];
  }
  [[nodiscard]] LoopCore& loop() const noexcept { return loop_; }
  /// Whether something above this level may be runnable and unclaimed; it may say yes for nothing.   Cost: a load.
  [[nodiscard]] bool may_have_above(int level) const noexcept {
    return queues_.may_have_above(level);
  }
  [[nodiscard]] std::uint64_t stolen(unsigned agent) const noexcept {
    return queues_.stolen(agent);
  }

  // A member, on its thread (cluster_run.cpp).

  /// Takes what is to be run next; null when that is a bound task of the highest level `bound` (-1: none), or nothing is
  /// runnable, or the pick is to go on later (LoopCore::may_pass_more).
  [[nodiscard]] LoopNode* pick(LoopCore& agent, int bound) noexcept HEIST_ON_AGENT {
    for (;;) {
      LoopNode* node = queues_.pick(agent.member_.index, bound);
      if (node == nullptr || may_run(*node)) return node;
      if (!agent.may_pass_more()) return nullptr;
    }
  }
  /// The same of one level, whatever there is above; null: nothing is runnable there.
  [[nodiscard]] LoopNode* pick_at(LoopCore& agent, int level) noexcept HEIST_ON_AGENT {
    for (;;) {
      LoopNode* node = queues_.pick_at(agent.member_.index, level);
      if (node == nullptr || may_run(*node)) return node;
      if (!agent.may_pass_more()) return nullptr;
    }
  }
  /// Of what has waited for its maximum by `now` the one that had done so first, and before `limit` (WAIT).
  [[nodiscard]] LoopNode* take_late(LoopCore& agent, std::chrono::nanoseconds now,
                                    std::chrono::nanoseconds limit) noexcept HEIST_ON_AGENT;
  /// Whether aborted tasks are to leave queues that nobody comes to.   Cost: a load.
  [[nodiscard]] bool wants_sweep() const noexcept { return sweep_.is_due(); }
  /// Takes some out of there, unless another agent is at it.
  void sweep_some(LoopCore& agent) noexcept HEIST_ON_AGENT;
  /// Any thread: the keeper is to sweep what suspended schedulers hold back.
  void ask_for_sweep() noexcept;
  /// An agent that has taken the contents of an aborted task takes it out of its signal's queue. False: it is not there.
  [[nodiscard]] bool take_back(ControlledTask& task) noexcept;
  /// The level at which the last one stood.
  [[nodiscard]] int picked_level(LoopCore& agent) noexcept HEIST_ON_AGENT {
    return queues_.picked_level(agent.member_.index);
  }
  /// The running task leaves its continuation behind for other agents, until unfork(). False: there is no room for it.
  [[nodiscard]] bool fork(LoopCore& agent, LoopNode& continuation,
                          int level) noexcept HEIST_ON_AGENT {
    return queues_.fork(agent.member_.index, continuation, level);
  }
  /// Takes the youngest back. False: it was stolen, and everything older too.
  [[nodiscard]] bool unfork(LoopCore& agent, int level) noexcept HEIST_ON_AGENT {
    return queues_.unfork(agent.member_.index, level);
  }
  /// Sleeps until there may be something to do, or `limit`.
  void park(LoopCore& agent,
            std::optional<LoopTime::Clock::time_point> limit) noexcept HEIST_ON_AGENT;
  /// The agent is about to run something.
  void end_search(LoopCore& agent) noexcept HEIST_ON_AGENT;
  /// Whether keep() has something to do.
  [[nodiscard]] bool wants_keeper() const noexcept;
  /// Takes over what was armed and publishes what is due, unless another agent is at it.   Returns
  /// a signal's time limit that has ended, to be run next; null: none, or it is a task's turn.
  [[nodiscard]] SchedulerTask* keep(LoopCore& agent) noexcept HEIST_ON_AGENT;
  /// The keeper: a task's delay is over. It may be gone afterwards.
  void publish_expired(SchedulerTask& task) noexcept;

  // Members that block, and reserves (cluster_blocking.cpp).

  /// A member's thread, from within its task: a reserve, if there is one, picks in its place until end_blocking(). False: it
  /// does so already.
  [[nodiscard]] bool begin_blocking(LoopCore& agent) noexcept;
  void end_blocking(LoopCore& agent) noexcept;
  /// A reserve whose thread begins.
  void enlist(LoopCore& reserve) noexcept;
  /// A reserve: whether it looks for what is stealable now. It stands down when it is not needed any more.
  [[nodiscard]] bool may_pick(LoopCore& reserve) noexcept HEIST_ON_AGENT;
  /// A reserve whose run() has ended without a close: whether its thread may end.
  [[nodiscard]] bool try_retire(LoopCore& reserve) noexcept HEIST_ON_AGENT;
  /// Of one that was to get up, and cannot.
  void give_up(LoopCore& reserve) noexcept;

  // Members that wait (cluster_waits.cpp).

  /// A member that has begun a wait: whether nobody is left who could end it (CLU-5).
  [[nodiscard]] bool is_stuck(const LoopCore& agent) noexcept;
  /// A member that has ended one.
  void await_lookers() noexcept;
  struct Wait;
  using Waits = std::array<Wait, IdleAgents::most_agents>;
  /// A member that has waited for long: what is to be told of those that have waited since `before`, which becomes now; empty:
  /// nothing, or another one of them tells.   Errors: std::bad_alloc.
  [[nodiscard]] std::string find_long_waits(const LoopCore& agent, Waits& before);

  // Closing (cluster_close.cpp).

  /// A member that is about to wait: drops what nobody may run any more.   Cost: a load.
  void drop_if_left() noexcept;
  /// Any thread that is about to wait: if it does so within a drop, what is behind that goes now.
  static void drop_behind() noexcept;
  /// Any thread: waits until nothing is runnable or about to be (nor delayed, if the terms say so), or the terms are over.
  /// False: `look_at` has come first.
  bool wait_until_quiet(const CloseTerms& terms,
                        std::optional<CloseTerms::Clock::time_point> look_at = {}) noexcept;
  /// Any thread, once the terms are stricter: those that wait so look at them again.
  void hurry_closers() noexcept;
  /// A closer, once all members are asked to close: they may all be busy, or wait for what nobody may run any more. What
  /// another one is about to drop is counted by the return, unless that takes long.
  void drop_for_closer() noexcept;
  /// Who waits for what.   Errors: std::bad_alloc.
  [[nodiscard]] DrainObstacle find_obstacle();
  /// How many tasks were dropped that no signal had aborted.
  [[nodiscard]] std::uint64_t dropped() const noexcept {
    return dropped_.load(sync::relaxed);  // relaxed: a statistic.
  }
  /// A member, before its own loop is closed: from now on what is runnable is dropped.
  void begin_to_leave() noexcept { drops_.store(true, sync::edge("hub:close", sync::seq_cst)); }
  /// The same, once that is closed. The last one drops all that is left.
  void leave(LoopCore& agent) noexcept HEIST_ON_AGENT;

 private:
  class Drops;
  using Queues = ClusterQueues<hub_sizes, ClusterSleepers>;
  static constexpr std::uint32_t most_to_clear = 64;
  /// What a keeper does at a time of each: tasks that arrive, or are withdrawn; that come due, or are moved in the wheel;
  /// nodes that are only turned round.
  static constexpr unsigned keeper_portion = 256;
  static constexpr unsigned due_portion = 1024;
  static constexpr unsigned turned_portion = 2048;
  /// How many bins a pick sweeps: more of those that are dead than it lets go of callbacks.
  static constexpr unsigned swept_portion = 8;
  /// Of so many that a thread arms for later than all else one gets somebody up, to take over those before.
  static constexpr unsigned armed_portion = 1024;
  static constexpr Keeper::Due now_due = 0;  ///< there is something to do at once

  /// Asks the keeper to sweep what is held back. One is under way at a time.
  ///
  /// Edge hold: ask -> asked. Carries the count of aborts, also of those who found it under way.
  struct SweepMessage : LoopNode {
    explicit SweepMessage(ClusterHub& asked) noexcept;
    static void take(LoopNode& node, LoopCore& loop) noexcept;
    static void lose(LoopNode& node) noexcept;
    static const LoopNodeOps table;

    ClusterHub& hub;
  };

  /// Makes the calling agent that of the cluster's loop. No user code runs meanwhile.
  class Keeping {
   public:
    explicit Keeping(LoopCore& loop) noexcept : outer_(std::exchange(loop_of_this_thread, &loop)) {}
    ~Keeping() { loop_of_this_thread = outer_; }
    Keeping(const Keeping&) = delete;
    Keeping& operator=(const Keeping&) = delete;

   private:
    LoopCore* outer_;
  };

  /// A task or continuation that becomes runnable: it waits from now on.
  void stamp(LoopNode& node) const noexcept {
    if (is_guarded_) [[unlikely]]
      node.key = static_cast<std::uint64_t>(loop_.time().now().count());
  }
  void publish(SharedCell& cell, const LoopNode& node) noexcept;
  /// The member that the calling thread is, if any.
  [[nodiscard]] std::optional<unsigned> agent_here() const noexcept;
  void publish(LoopNode& node, int level) noexcept;
  void publish_runnable(SchedulerTask& task) noexcept;
  void publish_continuation(Reaction& reaction) noexcept;
  void publish_held(StealableHold& hold) noexcept;
  void publish_held(SchedulerTask& task) noexcept;
  void publish_held(Reaction& reaction) noexcept;
  int give_place(SharedCellOwner& cell, SignalLoop& part, LoopNode& node,
                 bool is_continuation) noexcept;
  /// False: it waits for a resume.
  [[nodiscard]] bool may_run(LoopNode& node) noexcept {
    // seq_cst: what suspend() wrote before it returned is seen.
    return !may_be_suspended_.load(sync::edge("hold:suspended", sync::seq_cst)) || !hold_back(node);
  }
  [[nodiscard]] bool hold_back(LoopNode& node) noexcept;
  [[nodiscard]] bool is_free(const StealableHold& hold) const noexcept;
  void sweep_held() noexcept;
  void count_aborts(const Registration* first, const Registration* end) noexcept;
  [[nodiscard]] bool takes_posts() const noexcept;
  void note_armed(Keeper::Due due) noexcept;
  void notify_watcher(Keeper::Due due) noexcept;
  /// What was posted while members leave.
  enum class Late : std::uint8_t { runnable, delayed };
  void drop_if_closed(Late posted = Late::runnable) noexcept;
  void drop_posted(Late posted) noexcept;
  void drop_for_waiter() noexcept;
  void drop_waiting(LoopCore* agent = nullptr) noexcept;
  void take_waiting(TaskFifo& into) noexcept;
  void drop_taken(TaskFifo& tasks) noexcept;

  [[nodiscard]] bool needs_keeper() const noexcept;
  void take_over() noexcept;
  [[nodiscard]] bool keeps_more() const noexcept;
  void arrive_some() noexcept;
  void withdraw_some() noexcept;
  [[nodiscard]] Registration* first_to_withdraw() const noexcept;
  [[nodiscard]] SchedulerTask* take_limit(LoopCore& agent) noexcept HEIST_ON_AGENT;
  void hand_on(LoopCore& agent) noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool has_work(LoopCore& agent) noexcept HEIST_ON_AGENT;
  void note_what_is_left(LoopCore& agent) noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool announce_sleep(LoopCore& agent) noexcept HEIST_ON_AGENT;
  void wait(LoopCore& agent,
            std::optional<LoopTime::Clock::time_point> limit) noexcept HEIST_ON_AGENT;
  void park_among_all(LoopCore& agent,
                      std::optional<LoopTime::Clock::time_point> limit) noexcept HEIST_ON_AGENT;

  [[nodiscard]] unsigned rank_of(const LoopCore& reserve) const noexcept {
    return reserve.member_.index - agents();
  }
  void get_up(unsigned reserve) noexcept;
  void park_reserve(LoopCore& reserve,
                    std::optional<LoopTime::Clock::time_point> limit) noexcept HEIST_ON_AGENT;
  void rest(LoopCore& reserve,
            std::optional<LoopTime::Clock::time_point> limit) noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool has_ended(LoopCore& reserve) noexcept HEIST_ON_AGENT;

  [[nodiscard]] std::uint64_t everybody() const noexcept {
    return (std::uint64_t{1} << size()) - 1;
  }
  [[nodiscard]] static Wait read_wait(const LoopCore& member) noexcept;
  [[nodiscard]] Waits look_at_waits() noexcept;
  [[nodiscard]] std::uint64_t awaited_by(const Waits& waits, const Wait& wait) const noexcept;
  [[nodiscard]] std::uint64_t find_stuck(const Waits& waits) const noexcept;
  [[nodiscard]] std::string words_for(const Waits& waits, const Wait& wait) const;
  [[nodiscard]] std::string words_for_all(const Waits& waits) const;

  [[nodiscard]] bool all_sleep() noexcept;
  [[nodiscard]] bool is_quiet(bool also_delayed) noexcept;
  [[nodiscard]] bool is_holding() noexcept;
  [[nodiscard]] bool holds_something() noexcept;
  [[nodiscard]] bool has_more_to_come() noexcept;
  [[nodiscard]] std::uint64_t count_sleeps() const noexcept;
  void note_sleep() noexcept;
  void drop_all(LoopCore& agent) noexcept HEIST_ON_AGENT;
  void drop_found() noexcept;
  void count_drop(const LoopNode& node) noexcept;

  LoopCore& loop_;
  ClusterSleepers sleepers_;
  const ReserveSetup reserve_setup_;
  const LongestWaits longest_waits_;
  const bool is_guarded_;
  Reserves reserves_;
  Queues queues_;
  AbortSweep sweep_;
  Keeper keeper_;
  // The keeper's own.
  TakenNodes arriving_;                       ///< from the inbox
  ControlledTask* last_withdrawn_ = nullptr;  ///< of the loop's `reap`, which begins with those
  bool sweeps_held_ = false;                  ///< what suspended schedulers hold back
  // What follows is for any thread.
  SweepMessage sweep_message_{*this};
  sync::atomic<bool> sweep_asked_{false};        ///< the message is under way
  alignas(64) sync::atomic<bool> drops_{false};  ///< some member leaves
  sync::atomic<bool> closed_{false};             ///< all have
  sync::atomic<bool> may_be_suspended_{false};   ///< some scheduler has been
  sync::atomic<bool> holds_delayed_{false};      ///< of a suspended scheduler; the keeper's
  sync::atomic<std::uint32_t> members_left_;
  sync::atomic<std::uint32_t> drop_requests_{0};
  sync::atomic<std::uint64_t> dropped_{0};     ///< tasks that no signal had aborted
  sync::atomic<std::uint32_t> quiet_{0};       ///< counts sleeps that a waiting closer looks at
  sync::atomic<std::uint32_t> is_awaited_{0};  ///< closers in wait_until_quiet()
  sync::atomic<std::uint32_t> to_clear_{0};    ///< counts messages that woke nobody
  sync::atomic<std::uint32_t> lookers_{0};     ///< see AgentWait
};

}  // namespace heist
