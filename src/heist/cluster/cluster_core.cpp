#include "cluster_core.hpp"
#include <heist/detail/levels.hpp>

#include <heist/detail/node_memory.hpp>
#include <heist/detail/promise_state.hpp>
#include <new>
#include <utility>

#include "../loop/drive_scope.hpp"
#include "../signal/signal_core.hpp"
#include "member.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

/// When a thread arms delays that end later than all others, it wakes nobody, but for one delay in
/// so many: then an agent takes over what was armed before.
constexpr unsigned armed_portion = 1024;

/// The scheduler of a task or a continuation; null for a part of a task that runs already.
SchedulerCore* scheduler_of(LoopNode& node) noexcept {
  if (node.ops->kind == LoopNodeKind::forked) return nullptr;
  if (node.ops->kind == LoopNodeKind::task) return static_cast<SchedulerTask&>(node).scheduler;
  return static_cast<Reaction&>(node).captured.state().scheduler;
}

/// A reaction without a state ends a task. It goes before all tasks, as it does on a loop.
std::uint8_t level_of(const Reaction& reaction) noexcept {
  const SchedulingState& state = reaction.captured.state();
  const auto priority = state.scheduler != nullptr ? state.priority : TaskPriority::user_blocking;
  return static_cast<std::uint8_t>(effective_priority(priority, true));
}

}  // namespace

bool ClusterCore::is_aborted(const LoopNode& node) noexcept {
  return node.ops->kind == LoopNodeKind::task &&
         static_cast<const SchedulerTask&>(node).is_aborted();
}

Ref<ClusterCore> ClusterCore::make(const EventLoopOptions& options,
                                   std::vector<Ref<LoopCore>> loops, const ReserveSetup& reserves,
                                   Placement placement) {
  return Ref<ClusterCore>::adopt(
      new ClusterCore(options, std::move(loops), reserves, std::move(placement)));
}

ClusterCore::ClusterCore(const EventLoopOptions& options, std::vector<Ref<LoopCore>> loops,
                         const ReserveSetup& reserves, Placement placement)
    : TaskHome(options),
      placement_(std::move(placement)),
      sleepers_(std::move(loops), placement_.groups()),
      reserve_setup_(reserves),
      longest_waits_(longest_waits_of(options.max_wait)),
      is_guarded_(options.max_wait != MaxWait{}),
      reserves_(reserves.count),
      queues_(size() + 2, agents(), placement_.groups(),
              sleepers_),  // two more places, for a closer and for whoever counts
      kept_(std::make_unique<WaitingTasks>(time())),
      closing_(*this, size()) {
  set_waiting(kept_.get());
  queues_.keep_stamps(longest_waits_);
  // All members are made before the first loop joins. Otherwise an exception would leave a loop
  // that has joined a cluster which was never made.
  std::vector<std::unique_ptr<Member>> members;
  for (unsigned agent = 0; agent < size(); ++agent) {
    members.push_back(std::make_unique<Member>(*this, loop(agent), agent));
  }
  for (unsigned agent = 0; agent < size(); ++agent) loop(agent).join(std::move(members[agent]));
}

ClusterCore::~ClusterCore() = default;

void retain(ClusterCore& core) noexcept { retain(static_cast<TaskHome&>(core)); }

void release(ClusterCore& core) noexcept { release(static_cast<TaskHome&>(core)); }

std::size_t ClusterCore::count_waiting(int level) {
  const std::lock_guard lock(counting_);
  return queues_.count_waiting(size() + 1, level);
}

std::vector<CountedQueue> ClusterCore::count_signal_queues() {
  std::vector<CountedQueue> queues;
  const std::lock_guard lock(counting_);
  for (int level = 0; level < level_count; ++level) {
    queues_.count_signal_queues(size() + 1, level,
                                [&](const SignalQueue& queue, std::size_t tasks) {
                                  queues.push_back({&queue, level, tasks});
                                });
  }
  return queues;
}

void ClusterCore::free_keeper_state() noexcept {
  first_scheduler().each([](SchedulerCore& scheduler) { scheduler.delays.reset(); });
  set_waiting(nullptr);
  kept_.reset();
}

std::optional<unsigned> ClusterCore::agent_here() const noexcept {
  const LoopCore* here = loop_of_this_thread;
  if (here == nullptr || !here->is_member_of(*this)) return std::nullopt;
  return Member::of(*here)->index();
}

unsigned ClusterCore::near_here() const noexcept {
  if (placement_.groups().count() == 1) return 0;
  const auto agent = agent_here();
  return agent ? *agent : placement_.near_here();
}

inline bool ClusterCore::takes_posts() const noexcept {
  if (closing_.is_closed()) return false;
  return !refuses_tasks() || drives_member_here(*this);
}

bool ClusterCore::post(SchedulerTask& task) noexcept {
  if (!takes_posts()) return false;
  if (task.is_delayed) return arm(task);
  stamp(task);
  publish_runnable(task);
  closing_.drop_if_begun();
  return true;
}

bool ClusterCore::post_or_drop(SchedulerTask& task) noexcept {
  const bool posted = post(task);
  if (!posted) {
    forget_sample(task);
    task.ops->drop(task);
  }
  return posted;
}

bool ClusterCore::deliver(Reaction& reaction) noexcept {
  if (closing_.is_closed()) return false;
  if (Tracing::is_on()) [[unlikely]]
    Tracing::record({.what = &reaction, .kind = TraceKind::post, .level = level_of(reaction)});
  stamp(reaction);
  publish_continuation(reaction);
  closing_.drop_if_begun();
  return true;
}

void ClusterCore::send(LoopNode& message) noexcept {
  if (inbox().post(message) == Inbox::PostResult::closed) return drop_undeliverable(message);
  upkeep_.notify_keeper();
}

void ClusterCore::send_to_clear(LoopNode& message) noexcept {
  if (inbox().post(message) == Inbox::PostResult::closed) return drop_undeliverable(message);
  // relaxed: only a number.
  const auto others = to_clear_.fetch_add(1, sync::relaxed);
  if (others % most_to_clear == most_to_clear - 1) upkeep_.notify_keeper();
}

/// The reaction may be gone afterwards.
void ClusterCore::publish_continuation(Reaction& reaction) noexcept {
  if (const SignalQueueEntryOwner cell = std::move(reaction.cell)) return publish(*cell, reaction);
  publish(reaction, level_of(reaction));
}

void ClusterCore::publish(LoopNode& node, int level) noexcept {
  if (const auto agent = agent_here()) return queues_.post_from(*agent, node, level);
  queues_.post(node, level, placement_.near_here());
}

void ClusterCore::publish(SignalQueueEntry& cell, const LoopNode& node) noexcept {
  cell.stamp = node.key;
  queues_.post(cell, near_here());
}

/// The task may be gone afterwards.
void ClusterCore::publish_runnable(SchedulerTask& task) noexcept {
  if (!task.is_dynamic) return publish(task, task.static_level());
  publish(*ControlledTask::of(task).links->cell, task);
}

bool ClusterCore::arm(SchedulerTask& task) noexcept {
  const TimerKeeper::Due due = time().tick_from(task.key);
  if (inbox().post(task) == Inbox::PostResult::closed) return false;
  note_armed(due);
  return true;
}

bool ClusterCore::post_limit(SchedulerTask& limit, Inbox::Below& below) noexcept {
  if (!takes_posts()) return false;
  const TimerKeeper::Due due = time().tick_from(limit.key);
  const auto tell = [this](LoopNode& notice) { static_cast<void>(inbox().post(notice)); };
  if (!send_limit(limit, below, tell)) return false;
  note_armed(due);
  return true;
}

/// Notes that something waits for its time, or for the keeper.
void ClusterCore::note_armed(TimerKeeper::Due due) noexcept {
  thread_local constinit unsigned armed_here = 0;
  upkeep_.notify_watcher(++armed_here % armed_portion == 0 ? 0 : due);
  closing_.drop_if_begun(ClusterClosing::Late::delayed);
}

void ClusterCore::publish_expired(SchedulerTask& task) noexcept {
  if (task.is_aborted()) return aborted().discard(task);
  task.place = TaskPlace::elsewhere;
  // What has a signal may be aborted now, and an agent that reaps it looks whether it is sampled.
  const bool may_be_reaped = task.has_control && ControlledTask::of(task).links != nullptr;
  may_be_reaped ? sampling().note_runnable_unsampled(task) : sampling().note_runnable(task);
  stamp(task);
  publish_runnable(task);
}

// Queues that move with a signal.

SignalQueueEntryOwner ClusterCore::make_cell(SignalPort& port, LoopNode& node,
                                             bool is_continuation) {
  SignalQueues& pair = port.shared_queues();
  if (pair.is_new()) {  // the thread that made it may have been stopped here
    pair.reserve();
    move(port, pair);
  }
  return SignalQueueEntryOwner(
      make_node<SignalQueueEntry>(node, pair, pair.queue(is_continuation)));
}

void ClusterCore::reserve_place(ControlledTask& task) {
  task.links->cell = make_cell(priority_port_of(task), task, task.is_continuation);
}

void ClusterCore::reserve_place(Reaction& reaction, const SchedulingState& state) {
  auto& port = state.priority_source->port_for(*state.scheduler).priority_port();
  reaction.cell = make_cell(port, reaction, true);
}

void ClusterCore::change_priority(SignalPort& port) noexcept {
  SignalQueues* pair = port.find_shared_queues();
  if (pair != nullptr) move(port, *pair);  // without a pair no task of this signal has come yet
}

void ClusterCore::move(SignalPort& port, SignalQueues& pair) noexcept {
  for (const bool is_continuation : {false, true}) {
    const auto level = [&]() noexcept {
      return effective_priority(port.priority(), is_continuation);
    };
    queues_.move(pair, pair.queue(is_continuation), level, near_here());
  }
  // A close that drops everything may have missed the queue: it may have looked at the new level
  // before the queue came there, and at the old level after the queue had left.
  closing_.drop_if_begun();
}

std::uint64_t ClusterCore::suspend(SchedulerCore& scheduler) noexcept {
  may_be_suspended_.store(true, sync::edge("hold:resume", sync::seq_cst));
  return scheduler.held_stealable.suspend();
}

std::uint64_t ClusterCore::resume(SchedulerCore& scheduler) noexcept {
  const auto change = scheduler.held_stealable.resume();
  publish_held(scheduler.held_stealable);
  closing_.drop_if_begun();
  return change;
}

/// Called when an agent has picked this node. Returns true, and holds the node back, when it must
/// not run now.
bool ClusterCore::hold_back(LoopNode& node) noexcept {
  SchedulerCore* scheduler = scheduler_of(node);
  if (scheduler == nullptr || !scheduler->held_stealable.is_suspended()) return false;
  SuspendedTasks& hold = scheduler->held_stealable;
  const auto aborts = hold.aborts();
  if (is_aborted(node)) return false;  // the pick discards it
  hold.push(node);
  if (!hold.is_suspended()) publish_held(hold);
  if (hold.aborts() != aborts) {
    hold.count_abort();  // perhaps the abort of this task, which found no node here
    if (hold.wants_sweep()) ask_for_sweep();
  }
  return true;
}

// Sweeping.

ClusterCore::SweepMessage::SweepMessage() noexcept : LoopNode(table) {}

const MessageOps ClusterCore::SweepMessage::table{&drop, &take};

void ClusterCore::SweepMessage::take(LoopNode& /*node*/, TaskHome& home) noexcept {
  static_cast<ClusterCore&>(home).note_sweep_asked();
}

void ClusterCore::SweepMessage::drop(LoopNode& /*node*/) noexcept {}

void ClusterCore::ask_for_sweep() noexcept {
  if (!sweep_asked_.exchange(true, sync::edge("hold:ask", sync::seq_cst))) send(sweep_message_);
}

void ClusterCore::note_sweep_asked() noexcept {
  sweep_asked_.exchange(false, sync::edge("hold:asked", sync::seq_cst));
  upkeep_.sweep_held_soon();
}

bool ClusterCore::sweep_held() noexcept {
  constexpr unsigned portion = 256;
  bool has_more = false;
  first_scheduler().each([&](SchedulerCore& scheduler) noexcept {
    SuspendedTasks& hold = scheduler.held_stealable;
    if (!hold.wants_sweep() || !hold.try_begin()) return;
    hold.sweep(portion, &is_aborted, [this](LoopNode& node) noexcept {
      aborted().discard(static_cast<SchedulerTask&>(node));
    });
    hold.end();
    publish_held(hold);
    has_more |= hold.wants_sweep();
  });
  return has_more;
}

/// Aborted tasks are taken out of the queues once there are enough of them to make that worth it.
/// The same holds for the tasks that suspended schedulers hold back.
void ClusterCore::count_aborts(const Registration* first, const Registration* end) noexcept {
  std::int64_t in_queues = 0;
  for (; first != end; first = first->chain) {
    const auto& links = static_cast<const SignalLinks&>(*first);
    if (links.is_withdrawn) continue;
    const ControlledTask& task = links.task;
    task.scheduler->held_stealable.count_abort();
    if (!task.is_dynamic) ++in_queues;
  }
  sweep_.count_aborts(in_queues);
}

void ClusterCore::sweep_some(AbortedTasks& into, unsigned agent) noexcept {
  SweepPlace* place = sweep_.try_begin();
  if (place == nullptr) return;
  const auto drop = [&](LoopNode& node) noexcept {
    count_taken_back(place->level);
    into.discard_stealable(static_cast<SchedulerTask&>(node));
  };
  // The same pick may have destroyed callbacks for as long as UpkeepTime allows, and kept delays
  // for as long again. A small number of portions keeps the whole below a millisecond (ABT-4).
  constexpr unsigned most_portions = 4;
  bool goes_on = true;
  unsigned portions = 0;
  const auto sweep_portion = [&]() noexcept {
    goes_on = queues_.sweep(agent, *place, swept_portion, &is_aborted, drop);
    return goes_on && ++portions < most_portions;
  };
  if (sweep_portion()) sweep_time_.go_on(time(), sweep_portion);
  sweep_.end(goes_on);
}

/// Whoever takes out a task's contents also takes back the task's place in its signal's queue, if
/// it has one.
bool ClusterCore::reap(ControlledTask& task) noexcept {
  if (task.links->is_withdrawn) return dispose(task);
  const bool is_ours = discard_contents(task);
  if (is_ours && take_back(task)) task.task_ops().retire(task);
  return is_ours;
}

/// Takes the task out of its signal's queue. Returns false when it is not there.
bool ClusterCore::take_back(ControlledTask& task) noexcept {
  const SignalQueueEntryOwner& cell = task.links->cell;
  if (!cell || !cell->try_take_back()) return false;
  sweep_.count_aborts(1);  // counts the task's cell
  count_taken_back(cell->queue.level());
  return true;
}

// Publishing what was held back.

bool ClusterCore::is_holding() noexcept {
  bool holds = false;
  first_scheduler().each(
      [&](SchedulerCore& scheduler) noexcept { holds |= !scheduler.held_stealable.empty(); });
  return holds;
}

void ClusterCore::publish_all_held() noexcept {
  first_scheduler().each(
      [this](SchedulerCore& scheduler) noexcept { publish_held(scheduler.held_stealable); });
}

/// Called by any thread after a resume, or when the cluster closes.
void ClusterCore::publish_held(SuspendedTasks& hold) noexcept {
  bool has_published = false;
  while (is_free(hold) && !hold.empty() && hold.try_begin()) {
    hold.take_all([this](LoopNode& node) noexcept {
      node.ops->kind == LoopNodeKind::task ? publish_held(static_cast<SchedulerTask&>(node))
                                           : publish_held(static_cast<Reaction&>(node));
    });
    hold.end();
    has_published = true;
  }
  if (has_published && hold.wants_sweep())
    ask_for_sweep();  // the keeper skips what another thread is at
}

bool ClusterCore::is_free(const SuspendedTasks& hold) const noexcept {
  return !hold.is_suspended() || closing_.has_begun();
}

/// A held task gets a new place in the queue that moves with its signal, because its old place was
/// used up when the task was picked.
void ClusterCore::publish_held(SchedulerTask& task) noexcept {
  if (!task.is_dynamic || task.is_aborted()) return publish(task, task.static_level());
  auto& dynamic = ControlledTask::of(task);
  SignalLinks& links = *dynamic.links;
  // A task whose contents are taken was aborted. It only has to be picked and disposed of.
  if (!links.take_contents()) return publish(task, task.static_level());
  const int level = give_place(links.cell, priority_port_of(dynamic), task, task.is_continuation);
  links.return_contents();
  links.cell ? publish_runnable(task) : publish(task, level);
}

void ClusterCore::publish_held(Reaction& reaction) noexcept {
  const SchedulingState& state = reaction.captured.state();
  SignalCore* source = state.priority_source;
  if (source == nullptr) return publish_continuation(reaction);
  // The port is found, because it was there when the reaction was bound.
  const int level =
      give_place(reaction.cell, source->port_for(*state.scheduler).priority_port(), reaction, true);
  reaction.cell ? publish_continuation(reaction) : publish(reaction, level);
}

/// Gives a task or a reaction a place in its signal's queue. When there is no memory for a place,
/// it stays at its present level for good. Returns that level.
int ClusterCore::give_place(SignalQueueEntryOwner& cell, SignalPort& port, LoopNode& node,
                            bool is_continuation) noexcept {
  cell.reset();  // the old place was used up
  try {
    cell = make_cell(port, node, is_continuation);
  } catch (const std::bad_alloc&) {
  }
  return effective_priority(port.priority(), is_continuation);
}

}  // namespace HEIST_NAMESPACE::detail
