#include "cluster_closing.hpp"

#include <algorithm>
#include <utility>

#include "../loop/drive_scope.hpp"
#include "../promise/drops.hpp"
#include "cluster_core.hpp"
#include "member.hpp"

namespace HEIST_NAMESPACE::detail {

// Draining.

bool ClusterClosing::wait_until_quiet(
    const CloseTerms& terms, std::optional<CloseTerms::Clock::time_point> look_at) noexcept {
  is_awaited_.fetch_add(1, sync::edge("hub:await", sync::seq_cst));
  bool is_done = false;
  for (;;) {
    const auto seen = quiet_.load(sync::edge("hub:sleep", sync::seq_cst));
    is_done = terms.are_over() || is_quiet(terms.wait_for_delayed());
    if (is_done || (look_at && CloseTerms::Clock::now() >= *look_at)) break;
    wait_on_word(quiet_, seen, look_at ? look_at : terms.deadline());
  }
  is_awaited_.fetch_sub(1, sync::edge("hub:await", sync::seq_cst));
  return is_done;
}

void ClusterClosing::hurry_closers() noexcept {
  quiet_.fetch_add(1, sync::edge("hub:sleep", sync::seq_cst));
  wake_all_on_word(quiet_);
}

/// Whether all members slept at one moment, with nothing to wake them. Then nothing new can come: a
/// member that sleeps posts nothing, and posts of others are refused.
bool ClusterClosing::is_quiet(bool also_delayed) noexcept {
  const auto sleeps = count_sleeps();
  if (!all_sleep()) return false;
  if (cluster_.queues().has_tasks(cluster_.size())) return false;
  if (cluster_.has_posts_by_now()) {
    cluster_.upkeep().notify_keeper();  // a post that is due later than all else wakes nobody
    return false;
  }
  for (const auto& loop : cluster_.sleepers().loops()) {
    if (loop->has_posts_by_now()) return false;
  }
  if (also_delayed && has_more_to_come()) return false;
  return all_sleep() && count_sleeps() == sleeps;
}

/// Whether each member slept at some time during the call.
bool ClusterClosing::all_sleep() noexcept {
  const auto& idle = cluster_.sleepers().idle();
  for (unsigned agent = 0; agent < cluster_.size(); ++agent) {
    if (!idle.sleeps(agent) && !cluster_.is_at_rest(agent)) return false;
  }
  return true;
}

/// Whether tasks of a suspended scheduler wait in the cluster, or on an agent since it went to
/// sleep.
bool ClusterClosing::holds_something() noexcept {
  if (cluster_.is_holding() || cluster_.upkeep().holds_delayed()) return true;
  return std::ranges::any_of(cluster_.sleepers().loops(), [](const Ref<LoopCore>& loop) {
    return Member::of(*loop)->slept_holding();
  });
}

/// Called while all members sleep: whether there may be more to do later, at some time or when a
/// scheduler is resumed.
bool ClusterClosing::has_more_to_come() noexcept {
  if (cluster_.keeper().next_due() != TimerKeeper::never || holds_something()) return true;
  return std::ranges::any_of(cluster_.sleepers().loops(), [](const Ref<LoopCore>& loop) {
    return Member::of(*loop)->slept_until() != no_tick;
  });
}

std::uint64_t ClusterClosing::count_sleeps() const noexcept {
  std::uint64_t sum = 0;
  // relaxed: IdleAgents' announcement has published it.
  for (const auto& loop : cluster_.sleepers().loops()) sum += loop->sleep().count();
  return sum;
}

DrainObstacle ClusterClosing::find_obstacle() {
  DrainObstacle found = cluster_.waits().find_obstacle();
  const bool may_wait_for_held = cluster_.close_terms().wait_for_delayed() || !found.what.empty();
  if (may_wait_for_held && holds_something()) {
    if (!found.what.empty()) found.what += "; ";
    found.what += "tasks of a suspended scheduler wait for its resume";
    // The mark changes while tasks run, so a drain that makes progress is not reported.
    for (const auto& loop : cluster_.sleepers().loops()) found.mark += loop->counts().run();
  }
  return found;
}

void ClusterClosing::note_sleep() noexcept {
  if (is_awaited_.load(sync::edge("hub:await", sync::seq_cst)) == 0) return;
  quiet_.fetch_add(1, sync::edge("hub:sleep", sync::seq_cst));
  wake_all_on_word(quiet_);
}

// Dropping.

/// Drops tasks for the close, and counts them. With `drops_found` it also drops what it finds in
/// the queues.
class ClusterClosing::ClusterDrops final : public Drops {
 public:
  explicit ClusterDrops(ClusterClosing& closing, bool drops_found = false) noexcept
      : closing_(closing), drops_found_(drops_found) {}

  void add_counted(LoopNode& node) noexcept {
    closing_.count_drop(node);
    closing_.cluster_.forget_sample(node);
    add(node);
  }
  void add_found() noexcept override {
    if (!drops_found_) return;
    auto& cluster = closing_.cluster_;
    cluster.queues().drain(cluster.size(), [this](LoopNode& node, int level) noexcept {
      closing_.count_found(node, level);
      add_counted(node);
    });
  }

 private:
  ClusterClosing& closing_;
  const bool drops_found_;
};

void ClusterClosing::leave(LoopCore& agent) noexcept {
  if (agent.on_agent().is_searching) agent.membership()->end_search();
  begin_to_leave();
  drop_waiting(&agent);
  drop_found();
  agent.closing().finish();
  if (members_left_.fetch_sub(1, sync::edge("hub:leave", sync::acq_rel)) == 1) drop_all(agent);
}

/// Called for the last member: nobody picks any more.
void ClusterClosing::drop_all(LoopCore& agent) noexcept {
  closed_.store(true, sync::relaxed);  // relaxed: posts that overlap may fall either way.
  cluster_.keeper().begin();           // a late poster may have it
  cluster_.upkeep().close_inbox();
  cluster_.upkeep().pass_all_to(agent);
  TaskFifo found;
  cluster_.upkeep().take_waiting(found);
  drop_taken(found);
  drop_found();
  agent.closing().finish();
}

void ClusterClosing::drop_posted(Late posted) noexcept {
  LoopCore* member = member_here();
  const bool by_task = member != nullptr && member->is_member_of(cluster_) &&
                       member->counts().activity().runs_something();
  if (by_task) {
    if (Member::of(*member)->is_blocked()) drop_for_waiter();
    return;
  }
  if (posted == Late::delayed) drop_waiting();
  drop_found();
}

void ClusterClosing::drop_if_left() noexcept {
  if (has_begun()) [[unlikely]]
    drop_for_waiter();
}

/// Runs as if on a thread without a loop. On the agent's loop the reactions would be microtasks,
/// and would wait for the end of the task that waits here.
void ClusterClosing::drop_for_waiter() noexcept {
  const DrivePause pause;
  drop_waiting();
  drop_found();
  Drops::drop_all();
}

void ClusterClosing::drop_for_closer() noexcept {
  constexpr std::chrono::milliseconds patience{10};
  begin_to_leave();
  drop_for_waiter();
  const auto end = LoopTime::Clock::now() + patience;
  while (LoopTime::Clock::now() < end) {
    const auto dropping = drop_requests_.load(sync::edge("hub:drop", sync::seq_cst));
    if (dropping == 0) return;
    wait_on_word(drop_requests_, dropping, LoopTime::Clock::now() + patience / 10);
  }
}

/// Drops what waits for its time, or for a resume. If another thread has the keeper's role, this
/// one leaves the work to it, because that thread looks again. `agent`, if there is one, clears
/// away what was aborted; otherwise that waits for the next agent.
void ClusterClosing::drop_waiting(LoopCore* agent) noexcept {
  TaskFifo found;
  do {
    if (!cluster_.keeper().try_begin()) break;
    cluster_.upkeep().take_over_all();
    if (agent != nullptr) {
      agent->assert_agent();
      cluster_.upkeep().pass_all_to(*agent);
    }
    cluster_.upkeep().take_waiting(found);
    cluster_.keeper().end(TimerKeeper::never);
  } while (cluster_.has_posts_by_now());
  drop_taken(found);
}

/// Drops the tasks that were taken, and what agents hold back.
void ClusterClosing::drop_taken(TaskFifo& tasks) noexcept {
  cluster_.publish_all_held();
  ClusterDrops drops(*this);
  while (SchedulerTask* task = tasks.front()) {
    tasks.pop_front();
    drops.add_counted(*task);
  }
  drops.drop();
}

/// One thread at a time drops; a thread that finds another one at it leaves its work to that one.
/// (A late poster touches no agent's state, because the agent may be gone.)
void ClusterClosing::drop_found() noexcept {
  if (drop_requests_.fetch_add(1, sync::edge("hub:drop", sync::seq_cst)) != 0) return;
  ClusterDrops drops(*this, true);
  for (;;) {
    auto seen = drop_requests_.load(sync::edge("hub:drop", sync::seq_cst));
    drops.add_found();
    drops.drop();
    if (drop_requests_.compare_exchange_strong(seen, 0, sync::edge("hub:drop", sync::seq_cst),
                                               sync::relaxed)) {  // relaxed: it looks again.
      return;
    }
  }
}

void ClusterClosing::count_drop(const LoopNode& node) noexcept {
  if (node.ops->kind != LoopNodeKind::task || ClusterCore::is_aborted(node)) return;
  // relaxed: a statistic. Any thread drops, so this is not one of the agent's counts.
  dropped_.fetch_add(1, sync::relaxed);
}

void ClusterClosing::count_found(const LoopNode& node, int level) noexcept {
  auto& of = ClusterCore::is_aborted(node) ? found_aborted_ : found_;
  of[static_cast<std::size_t>(level)].fetch_add(1, sync::relaxed);  // relaxed: a statistic.
}

}  // namespace HEIST_NAMESPACE::detail
