// Closing a cluster: what is runnable runs, or everything is dropped; nothing new is taken.
#include <algorithm>
#include <heist/promise_state.hpp>
#include <utility>

#include "cluster_hub.hpp"
#include "microtask_queue.hpp"
#include "signal_core.hpp"

namespace heist {

// Draining.

bool ClusterHub::wait_until_quiet(const CloseTerms& terms,
                                  std::optional<CloseTerms::Clock::time_point> look_at) noexcept {
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

void ClusterHub::hurry_closers() noexcept {
  quiet_.fetch_add(1, sync::edge("hub:sleep", sync::seq_cst));
  wake_all_on_word(quiet_);
}

/// All slept at one moment, with nothing to wake them: who sleeps posts nothing, and others are refused.
bool ClusterHub::is_quiet(bool also_delayed) noexcept {
  const auto sleeps = count_sleeps();
  if (!all_sleep()) return false;
  if (queues_.has_tasks(size())) return false;
  if (loop_.inbox_.has_posts_by_now()) {
    notify_keeper();  // what is due later than all else wakes nobody
    return false;
  }
  for (const auto& loop : sleepers_.loops()) {
    if (loop->inbox_.has_posts_by_now()) return false;
  }
  if (also_delayed && has_more_to_come()) return false;
  return all_sleep() && count_sleeps() == sleeps;
}

/// Each of them did, at some time during the call.
bool ClusterHub::all_sleep() noexcept {
  return (sleepers_.idle().asleep() | reserves_.resting() << agents()) == everybody();
}

/// Whether tasks of a suspended scheduler wait.
bool ClusterHub::is_holding() noexcept {
  bool holds = false;
  loop_.first_scheduler().each(
      [&](SchedulerCore& scheduler) noexcept { holds |= !scheduler.stealable.empty(); });
  return holds;
}

/// Whether tasks of a suspended scheduler wait, of the cluster's or of an agent's that slept since.
bool ClusterHub::holds_something() noexcept {
  // relaxed: IdleAgents' announcement has published it, as what follows.
  if (is_holding() || holds_delayed_.load(sync::relaxed)) return true;
  return std::ranges::any_of(sleepers_.loops(), [](const Ref<LoopCore>& loop) {
    return loop->member_.holds.load(sync::relaxed);  // relaxed: as above.
  });
}

/// All sleep: by the clock, or by resuming a scheduler.
bool ClusterHub::has_more_to_come() noexcept {
  if (keeper_.next_due() != Keeper::never || holds_something()) return true;
  return std::ranges::any_of(sleepers_.loops(), [](const Ref<LoopCore>& loop) {
    return loop->member_.next_due.load(sync::relaxed) != no_tick;  // relaxed: as above.
  });
}

std::uint64_t ClusterHub::count_sleeps() const noexcept {
  std::uint64_t sum = 0;
  // relaxed: IdleAgents' announcement has published it.
  for (const auto& loop : sleepers_.loops()) sum += loop->sleeps_.load(sync::relaxed);
  return sum;
}

// Dropping.

/// What this thread is about to drop, oldest first: who waits within a drop finds it.
class ClusterHub::Drops {
 public:
  explicit Drops(ClusterHub& hub) noexcept : hub_(hub), outer_(std::exchange(innermost, this)) {}
  Drops(const Drops&) = delete;
  Drops& operator=(const Drops&) = delete;
  ~Drops() { innermost = outer_; }

  void add(LoopNode& node) noexcept {
    hub_.count_drop(node);
    nodes_.push(node);
  }
  /// By who is the one that drops what is found.
  void add_found() noexcept {
    drops_found_ = true;
    hub_.queues_.drain(hub_.size(), [this](LoopNode& node) noexcept { add(node); });
  }
  void drop() noexcept {
    while (!nodes_.empty()) {
      LoopNode& node = nodes_.pop();
      node.ops->kind == LoopNodeKind::task ? node.ops->drop(node) : drop_undeliverable(node);
    }
  }
  static void drop_all() noexcept {
    for (Drops* at = innermost; at != nullptr; at = at->outer_) {
      if (at->drops_found_) at->add_found();
      at->drop();
    }
  }

 private:
  static thread_local constinit Drops* innermost;

  ClusterHub& hub_;
  Drops* outer_;
  MicrotaskQueue nodes_;
  bool drops_found_ = false;
};

thread_local constinit ClusterHub::Drops* ClusterHub::Drops::innermost = nullptr;

void ClusterHub::leave(LoopCore& agent) noexcept {
  if (agent.member_.searching) end_search(agent);
  begin_to_leave();
  drop_waiting(&agent);
  drop_found();
  agent.finish_garbage();
  if (members_left_.fetch_sub(1, sync::edge("hub:leave", sync::acq_rel)) == 1) drop_all(agent);
}

/// The last member: nobody picks any more.
void ClusterHub::drop_all(LoopCore& agent) noexcept {
  closed_.store(true, sync::relaxed);  // relaxed: posts that overlap may fall either way.
  keeper_.begin_for_good();            // a late poster may have it
  {
    const Keeping keeping(loop_);
    loop_.assert_agent();
    while (keeps_more()) take_over();
    loop_.arrive_all(loop_.inbox_.close());
    loop_.close_limits();
    loop_.close_aborts();
    if (loop_.agent_->reap != nullptr) last_withdrawn_ = loop_.agent_->reap_tail;
  }
  hand_on(agent);
  TaskFifo found;
  take_waiting(found);
  drop_taken(found);
  drop_found();
  agent.finish_garbage();
}

void ClusterHub::drop_if_closed(Late posted) noexcept {
  if (drops_.load(sync::edge("hub:post", sync::seq_cst))) [[unlikely]]
    drop_posted(posted);
}

void ClusterHub::drop_posted(Late posted) noexcept {
  const LoopCore* member = LoopCore::member_here();
  const bool by_task =
      member != nullptr && member->member_.hub == this && member->activity().runs_something();
  if (by_task) {
    if (member->member_.is_blocked) drop_for_waiter();
    return;
  }
  if (posted == Late::delayed) drop_waiting();
  drop_found();
}

void ClusterHub::drop_if_left() noexcept {
  if (drops_.load(sync::edge("hub:post", sync::seq_cst))) [[unlikely]]
    drop_for_waiter();
}

/// As on a thread of no loop: microtasks would wait for the end of the task that waits.
void ClusterHub::drop_for_waiter() noexcept {
  LoopCore* here = std::exchange(loop_of_this_thread, nullptr);
  drop_waiting();
  drop_found();
  Drops::drop_all();
  loop_of_this_thread = here;
}

void ClusterHub::drop_for_closer() noexcept {
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

/// What waits for its time, or for a resume. Who finds the role taken leaves it to whoever has it, who looks again.
/// `agent`: one that sees to what was aborted; else it waits for the next one.
void ClusterHub::drop_waiting(LoopCore* agent) noexcept {
  TaskFifo found;
  do {
    if (!keeper_.try_begin()) break;
    do take_over();
    while (keeps_more());
    if (agent != nullptr) {
      agent->assert_agent();
      hand_on(*agent);
    }
    take_waiting(found);
    keeper_.end(Keeper::never);
  } while (loop_.inbox_.has_posts_by_now() || loop_.limits_to_arm_.has_posts_by_now());
  drop_taken(found);
}

/// The keeper.
void ClusterHub::take_waiting(TaskFifo& into) noexcept {
  const Keeping keeping(loop_);
  auto& limits = loop_.on_agent().limits;
  while (!limits.empty()) into.push_back(limits.pop());
  loop_.first_scheduler().each([&](SchedulerCore& scheduler) noexcept {
    loop_.assert_agent();
    loop_.take_delayed(scheduler, into);
  });
  loop_.on_agent().delays.drain([&](LoopNode& node) noexcept {
    auto& task = static_cast<SchedulerTask&>(node);
    task.place = TaskPlace::elsewhere;
    into.push_back(task);
  });
}

/// And what agents hold back.
void ClusterHub::drop_taken(TaskFifo& tasks) noexcept {
  loop_.first_scheduler().each(
      [this](SchedulerCore& scheduler) noexcept { publish_held(scheduler.stealable); });
  Drops drops(*this);
  while (SchedulerTask* task = tasks.front()) {
    tasks.pop_front();
    drops.add(*task);
  }
  drops.drop();
}

/// One thread at a time; who finds another one at it leaves it to that one. (A late poster touches no agent's state: it
/// may be gone.)
void ClusterHub::drop_found() noexcept {
  if (drop_requests_.fetch_add(1, sync::edge("hub:drop", sync::seq_cst)) != 0) return;
  Drops drops(*this);
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

/// As on a thread of no loop: microtasks would wait for the end of what waits.
void ClusterHub::drop_behind() noexcept {
  LoopCore* here = std::exchange(loop_of_this_thread, nullptr);
  Drops::drop_all();
  loop_of_this_thread = here;
}

void ClusterHub::count_drop(const LoopNode& node) noexcept {
  if (node.ops->kind != LoopNodeKind::task) return;
  // relaxed: a statistic. By any thread, so that it is not the agent's count.
  if (!static_cast<const SchedulerTask&>(node).is_aborted()) dropped_.fetch_add(1, sync::relaxed);
}

}  // namespace heist
