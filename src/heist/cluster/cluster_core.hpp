// ClusterCore: a cluster of event loops. Its tasks are stealable: each runs on whichever of the
// cluster's agents picks it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/detail/levels.hpp>
#include <heist/detail/loop_node.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/sync.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "../loop/upkeep_time.hpp"
#include "../task/task_home.hpp"
#include "cluster_closing.hpp"
#include "cluster_sleepers.hpp"
#include "cluster_upkeep.hpp"
#include "cluster_waits.hpp"
#include "placement.hpp"
#include "queues/cluster_queues.hpp"
#include "reserve_setup.hpp"
#include "reserves.hpp"
#include "timer_keeper.hpp"

namespace HEIST_NAMESPACE::detail {

/// Sizes of the shipped queues. In models they are so small that everything is full at once.
#if defined(HEIST_MODEL)
inline constexpr ClusterSizes shipped_sizes{
    .bins = 2, .bin = 2, .ring = 4, .forks = 2, .others_turn = 61};
#else
inline constexpr ClusterSizes shipped_sizes{};
#endif

/// A queue that moves with a signal, and how many tasks it has.
struct CountedQueue {
  const void* queue = nullptr;
  int level = 0;
  std::size_t tasks = 0;
};

/// The home of stealable tasks. Runnable tasks go to queues that all agents pick from. Delayed
/// tasks and messages go to the inbox and the wheel, which belong to whichever agent is the keeper.
/// A cluster is not a loop: Member has what its agents do in it.
///
/// Roles   poster: any thread.  agent: a member, on its own loop's thread.  keeper: see
///         TimerKeeper; it owns this home while it has the role, and runs no user code.  reserve:
///         one of the last members; an agent while another member blocks (Reserves).
/// I1      A task is in the inbox, in the wheel, or in the queues. Whoever takes it from the queues
///         disposes of it. Its callback is destroyed by whoever takes its contents: the thread that
///         holds it, or the one that reaps it after an abort (ControlledTask).
/// Lifetime  as TaskHome. The cluster shares the members' loops, which know it until they are
///         closed.
/// Proof   stress/model/models/cluster_*.cpp.
class ClusterCore final : public TaskHome {
 public:
  using Queues = ClusterQueues<shipped_sizes, ClusterSleepers>;

  /// Makes a cluster of these loops, which are not driven yet.   Errors: std::bad_alloc.
  static Ref<ClusterCore> make(const EventLoopOptions& options, std::vector<Ref<LoopCore>> loops,
                               const ReserveSetup& reserves, Placement placement);

  // What any thread may call.

  [[nodiscard]] bool post(SchedulerTask& task) noexcept override;
  bool post_or_drop(SchedulerTask& task) noexcept override;
  [[nodiscard]] bool post_limit(SchedulerTask& limit, Inbox::Below& below) noexcept override;
  [[nodiscard]] bool deliver(Reaction& reaction) noexcept override;
  void send(LoopNode& message) noexcept override;
  /// Sends a message whose only purpose is to free memory. Not each of these wakes a sleeping agent
  /// (CLU-4), but enough of them do to bound the memory (ABT-5).
  void send_to_clear(LoopNode& message) noexcept override;
  void change_priority(SignalPort& port) noexcept override;
  void reserve_place(ControlledTask& task) override;
  void reserve_place(Reaction& reaction, const SchedulingState& state) override;
  std::uint64_t suspend(SchedulerCore& scheduler) noexcept override;
  std::uint64_t resume(SchedulerCore& scheduler) noexcept override;
  [[nodiscard]] LoopCore* as_loop() noexcept override { return nullptr; }
  /// Called by ForkWatch: notes that in this child of fork nobody is an agent of the cluster.
  static void lose_agent(void* home) noexcept { static_cast<TaskHome*>(home)->refuse_tasks(); }
  /// Asks the keeper to sweep what suspended schedulers hold back.
  void ask_for_sweep() noexcept;
  /// Called for what is dropped, or was refused: a task without control is sampled no more. (Those
  /// with control stop being so as they are disposed of.)
  void forget_sample(LoopNode& node) noexcept {
    if (node.ops->kind != LoopNodeKind::task) return;
    auto& task = static_cast<SchedulerTask&>(node);
    if (!task.has_control) sampling().forget(task);
  }
  /// Whether what an agent has picked is a task that was aborted.
  [[nodiscard]] static bool is_aborted(const LoopNode& node) noexcept;

  /// The number of agents and reserves together.
  [[nodiscard]] unsigned size() const noexcept {
    return static_cast<unsigned>(sleepers_.loops().size());
  }
  [[nodiscard]] unsigned agents() const noexcept { return size() - reserve_setup_.count; }
  /// Whether this is a reserve that rests.
  [[nodiscard]] bool is_at_rest(unsigned agent) const noexcept {
    return agent >= agents() && reserves_.is_at_rest(agent - agents());
  }
  [[nodiscard]] LoopCore& loop(unsigned agent) const noexcept { return *sleepers_.loops()[agent]; }
  /// How many tasks and continuations this agent has claimed in other agents' rings and deques.
  [[nodiscard]] std::uint64_t stolen(unsigned agent) const noexcept {
    return queues_.stolen(agent);
  }

  /// How many tasks and continuations wait at a level.   Blocks: while another thread counts.
  [[nodiscard]] std::size_t count_waiting(int level);
  /// The queues that move with signals, with tasks.   Blocks: as above.   Errors: std::bad_alloc.
  [[nodiscard]] std::vector<CountedQueue> count_signal_queues();
  /// How many aborted tasks were taken out of bins and signals' queues at a level.
  [[nodiscard]] std::uint64_t taken_back(int level) const noexcept {
    return taken_back_[static_cast<std::size_t>(level)].load(sync::relaxed);  // relaxed: as above.
  }

  // The cluster's parts, for each other and for members.

  [[nodiscard]] Queues& queues() noexcept { return queues_; }
  [[nodiscard]] ClusterSleepers& sleepers() noexcept { return sleepers_; }
  /// An agent of the calling thread's group. That is the thread's own agent, if it is one.
  ///
  /// Thread: any.
  [[nodiscard]] unsigned near_here() const noexcept;
  [[nodiscard]] TimerKeeper& keeper() noexcept { return keeper_; }
  [[nodiscard]] Reserves& reserves() noexcept { return reserves_; }
  [[nodiscard]] const ReserveSetup& reserve_setup() const noexcept { return reserve_setup_; }
  [[nodiscard]] const LongestWaits& longest_waits() const noexcept { return longest_waits_; }
  [[nodiscard]] ClusterUpkeep& upkeep() noexcept { return upkeep_; }
  [[nodiscard]] ClusterClosing& closing() noexcept { return closing_; }
  [[nodiscard]] ClusterWaits& waits() noexcept { return waits_; }

  // What an agent calls.

  /// Whether the agent may run what it has picked. If not, the node waits until its scheduler is
  /// resumed, and does not belong to the agent any more.
  [[nodiscard]] bool may_run(LoopNode& node) noexcept {
    // The order is seq_cst so that what suspend() wrote before it returned is seen.
    return !may_be_suspended_.load(sync::edge("hold:suspended", sync::seq_cst)) || !hold_back(node);
  }
  /// Whether aborted tasks should be taken out of queues that nobody comes to.   Cost: a load.
  [[nodiscard]] bool wants_sweep() const noexcept { return sweep_.is_due(); }
  /// Takes some aborted tasks out of such queues, unless another agent does so at the moment.
  void sweep_some(AbortedTasks& into, unsigned agent) noexcept;
  [[nodiscard]] bool reap(ControlledTask& task) noexcept override;

  // What only the keeper calls.

  /// Publishes a task whose delay is over. The task may be gone afterwards.
  void publish_expired(SchedulerTask& task) noexcept;
  /// Takes aborted tasks out of what is held back, one portion for each scheduler. Returns true
  /// when there are more.
  [[nodiscard]] bool sweep_held() noexcept;
  /// Notes that the tasks from `first` on, up to `end` but without it, were aborted.
  void count_aborts(const Registration* first, const Registration* end) noexcept;
  /// Called when the message of ask_for_sweep() arrives.
  void note_sweep_asked() noexcept;

  // Closing.

  /// Whether tasks of a suspended scheduler wait in the hands of agents.
  [[nodiscard]] bool is_holding() noexcept;
  /// Makes what agents hold back runnable, so that it can be dropped.
  void publish_all_held() noexcept;
  /// Called by the cluster's owner, once all members are closed.
  void free_keeper_state() noexcept;

 private:
  /// Asks the keeper to sweep what is held back. Only one such message is under way at a time.
  ///
  /// Edge hold: ask -> asked. Carries the count of aborts, also of threads that found a message
  ///         under way.
  struct SweepMessage : LoopNode {
    SweepMessage() noexcept;
    static void take(LoopNode& node, TaskHome& home) noexcept;
    static void drop(LoopNode& node) noexcept;
    static const MessageOps table;
  };

  static constexpr std::uint32_t most_to_clear = 64;
  /// How many bins a pick sweeps: enough to find aborted tasks faster than the pick destroys their
  /// callbacks.
  static constexpr unsigned swept_portion = 8;

  ClusterCore(const EventLoopOptions& options, std::vector<Ref<LoopCore>> loops,
              const ReserveSetup& reserves, Placement placement);
  ~ClusterCore() override;

  /// Notes that a task or a continuation becomes runnable, so that its wait begins now.
  void stamp(LoopNode& node) const noexcept {
    if (is_guarded_) [[unlikely]]
      node.key = static_cast<std::uint64_t>(time().now().count());
  }
  /// The member that the calling thread is, if any.
  [[nodiscard]] std::optional<unsigned> agent_here() const noexcept;
  void publish(SignalQueueEntry& cell, const LoopNode& node) noexcept;
  void publish(LoopNode& node, int level) noexcept;
  void publish_runnable(SchedulerTask& task) noexcept;
  void publish_continuation(Reaction& reaction) noexcept;
  [[nodiscard]] bool takes_posts() const noexcept;
  [[nodiscard]] bool arm(SchedulerTask& task) noexcept;
  void note_armed(TimerKeeper::Due due) noexcept;
  [[nodiscard]] SignalQueueEntryOwner make_cell(SignalPort& port, LoopNode& node,
                                                bool is_continuation);

  [[nodiscard]] bool hold_back(LoopNode& node) noexcept;
  [[nodiscard]] bool is_free(const SuspendedTasks& hold) const noexcept;
  void publish_held(SuspendedTasks& hold) noexcept;
  void publish_held(SchedulerTask& task) noexcept;
  void publish_held(Reaction& reaction) noexcept;
  void move(SignalPort& port, SignalQueues& pair) noexcept;
  void count_taken_back(int level) noexcept {
    // relaxed: a statistic.
    taken_back_[static_cast<std::size_t>(level)].fetch_add(1, sync::relaxed);
  }
  int give_place(SignalQueueEntryOwner& cell, SignalPort& port, LoopNode& node,
                 bool is_continuation) noexcept;
  [[nodiscard]] bool take_back(ControlledTask& task) noexcept;

  const Placement placement_;
  ClusterSleepers sleepers_;
  const ReserveSetup reserve_setup_;
  const LongestWaits longest_waits_;
  const bool is_guarded_;
  Reserves reserves_;
  Queues queues_;
  AbortSweep sweep_;
  UpkeepTime sweep_time_;  ///< the sweeper's
  TimerKeeper keeper_;
  std::unique_ptr<WaitingTasks>
      kept_;  ///< for the keeper; others use waiting() while they have the role
  ClusterUpkeep upkeep_{*this, inbox(), abort_messages()};
  ClusterWaits waits_{*this};
  // Any thread may use what follows.
  SweepMessage sweep_message_;
  sync::atomic<bool> sweep_asked_{false};  ///< the message is under way
  ClusterClosing closing_;
  sync::atomic<bool> may_be_suspended_{false};  ///< some scheduler has been suspended
  sync::atomic<std::uint32_t> to_clear_{0};     ///< counts messages that woke nobody
  std::array<sync::atomic<std::uint64_t>, level_count> taken_back_{};
  std::mutex counting_;
};

}  // namespace HEIST_NAMESPACE::detail
