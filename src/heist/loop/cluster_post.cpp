// How stealable tasks and continuations get into a cluster.
#include <heist/node_memory.hpp>
#include <heist/promise_state.hpp>
#include <utility>

#include "cluster_hub.hpp"
#include "signal_core.hpp"

namespace heist {

bool SchedulerTask::is_stealable() const noexcept { return scheduler->loop.hub() != nullptr; }

void FreeSharedCell::operator()(SharedCell* cell) const noexcept { cell->abandon(); }

void ClusterSleepers::unpark(unsigned agent) noexcept { loops_[agent]->wake_up(); }

namespace {

LongestWaits in_nanoseconds(const MaxWait& max_wait) noexcept {
  LongestWaits waits{};
  for (const auto priority :
       {TaskPriority::background, TaskPriority::user_visible, TaskPriority::user_blocking}) {
    waits[static_cast<std::size_t>(priority)] =
        static_cast<std::uint64_t>(max_wait.of(priority).count());
  }
  return waits;
}

}  // namespace

ClusterHub::ClusterHub(LoopCore& loop, std::vector<Ref<LoopCore>> members,
                       const ReserveSetup& reserves, const MaxWait& most)
    : loop_(loop),
      sleepers_(std::move(members)),
      reserve_setup_(reserves),
      longest_waits_(in_nanoseconds(most)),
      is_guarded_(most != MaxWait{}),
      reserves_(reserves.count),
      queues_(size() + 1, agents(), sleepers_),  // one place more: a closer's
      members_left_(size()) {
  queues_.keep_stamps(longest_waits_);
  for (unsigned agent = 0; agent < size(); ++agent) {
    member(agent)->join_cluster(*this, agent, agent >= agents());
  }
}

std::optional<unsigned> ClusterHub::agent_here() const noexcept {
  const LoopCore* here = loop_of_this_thread;
  if (here == nullptr || here->membership().hub != this) return std::nullopt;
  return here->membership().index;
}

inline bool ClusterHub::takes_posts() const noexcept {
  // relaxed, twice: posts that overlap a close may fall either way.
  if (closed_.load(sync::relaxed)) return false;
  return !loop_.refuses_tasks_.load(sync::relaxed) || LoopCore::drives_member_here(this);
}

bool ClusterHub::post(SchedulerTask& task) noexcept {
  if (!takes_posts()) return false;
  if (task.is_delayed) {
    const Keeper::Due due = loop_.time_.tick_from(task.key);
    if (!loop_.hand_over(task)) return false;
    note_armed(due);
    return true;
  }
  stamp(task);
  publish_runnable(task);
  drop_if_closed();
  return true;
}

bool ClusterHub::deliver(Reaction& reaction) noexcept {
  if (closed_.load(sync::relaxed)) return false;  // relaxed: as above.
  stamp(reaction);
  publish_continuation(reaction);
  drop_if_closed();
  return true;
}

/// It may be gone afterwards.
void ClusterHub::publish_continuation(Reaction& reaction) noexcept {
  const SchedulingState& state = reaction.captured.state();
  if (const SharedCellOwner cell = std::move(reaction.cell)) return publish(*cell, reaction);
  publish(reaction, effective_priority(state.priority, true));
}

void ClusterHub::publish(LoopNode& node, int level) noexcept {
  if (const auto agent = agent_here()) return queues_.post_from(*agent, node, level);
  queues_.post(node, level);
}

void ClusterHub::publish(SharedCell& cell, const LoopNode& node) noexcept {
  cell.stamp = node.key;
  queues_.post(cell);
}

/// It may be gone afterwards.
void ClusterHub::publish_runnable(SchedulerTask& task) noexcept {
  if (!task.is_dynamic) return publish(task, task.static_level());
  publish(*ControlledTask::of(task).cell, task);
}

bool ClusterHub::post_limit(SchedulerTask& limit, Inbox::Below& below) noexcept {
  if (!takes_posts()) return false;
  const Keeper::Due due = loop_.time_.tick_from(limit.key);
  if (!loop_.hand_over_limit(limit, below)) return false;
  note_armed(due);
  return true;
}

/// Something waits for its time, or for the keeper.
void ClusterHub::note_armed(Keeper::Due due) noexcept {
  thread_local constinit unsigned armed_here = 0;
  notify_watcher(++armed_here % armed_portion == 0 ? 0 : due);
  drop_if_closed(Late::delayed);
}

/// The first deadline may be earlier than it was.
void ClusterHub::notify_watcher(Keeper::Due due) noexcept {
  const auto watch = keeper_.watch();
  if (due >= watch.until) return;
  if (watch.watcher) return sleepers_.wake(*watch.watcher);
  sleepers_.notify();
}

SharedCell* ClusterHub::make_cell(SignalLoop& part, LoopNode& node, bool is_continuation) {
  SharedPair& pair = part.shared_pair();
  return make_node<SharedCell>(node, pair, pair.queue(is_continuation));
}

void ClusterHub::move(SignalLoop& part, SharedPair& pair) noexcept {
  for (const bool is_continuation : {false, true}) {
    queues_.move(pair, pair.queue(is_continuation),
                 [&]() noexcept { return effective_priority(part.priority(), is_continuation); });
  }
  drop_if_closed();  // who drops everything may have looked at the new level before, and at the old one too late
}

}  // namespace heist
