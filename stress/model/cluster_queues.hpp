// What models of a cluster's queues share.
#pragma once

#include <array>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/ref.hpp>
#include <utility>

#include "cluster/idle_agents.hpp"
#include "cluster/queues/cluster_queues.hpp"
#include "engine/model.hpp"
#include "queue_probe.hpp"

namespace heist::model {

using namespace detail;

/// Three levels, and so small that everything is full at once.
inline constexpr ClusterSizes small{.bins = 2, .bin = 2, .ring = 4, .others_turn = 61, .levels = 3};
/// Where a search above level 0 looks at one level only.
inline constexpr ClusterSizes two_levels{
    .bins = 2, .bin = 2, .ring = 4, .others_turn = 61, .levels = 2};

/// Nobody sleeps.
struct NoSleepers {
  void notify(unsigned) noexcept {}
};
/// Two agents that may sleep, and how many of them were woken.
struct TwoIdleAgents {
  void notify(unsigned near) noexcept {
    if (idle.notify(near)) {
      const Unwatched scope;
      ++woken;
    }
  }
  IdleAgents idle{2};
  int woken = 0;
};
/// A task that counts its runs.
struct CountedNode : LoopNode {
  CountedNode() noexcept : LoopNode(table) {}
  int runs = 0;

 private:
  static constexpr LoopNodeOps table{LoopNodeKind::task, nullptr, nullptr};
};
inline void run(LoopNode& node) noexcept { ++static_cast<CountedNode&>(node).runs; }

/// How often each of some tasks was taken.
template <std::size_t Count>
class Taken {
 public:
  void add(const std::array<CountedNode, Count>& tasks, const LoopNode* task) {
    const Unwatched scope;
    ++times_.at(static_cast<std::size_t>(static_cast<const CountedNode*>(task) - tasks.data()));
  }
  void check_once() const {
    for (const int times : times_) check(times == 1, "each task is taken once");
  }

 private:
  std::array<int, Count> times_{};
};

/// The queues of two agents, and what is bound to each of them.
template <ClusterSizes sizes>
class BasicCluster {
 public:
  explicit BasicCluster(AgentGroups groups = AgentGroups(2))
      : queues(2, 2, std::move(groups), nobody) {}

  void post_bound(unsigned agent, LoopNode& task, int level) noexcept {
    task.next = std::exchange(bound(agent, level), &task);
  }
  /// As LoopCore's pick.
  [[nodiscard]] LoopNode* pick(unsigned agent) noexcept {
    int level = static_cast<int>(sizes.levels) - 1;
    while (level >= 0 && bound(agent, level) == nullptr) --level;
    LoopNode* task = queues.pick(agent, level);
    if (task != nullptr || level < 0) return task;
    LoopNode*& first = bound(agent, level);
    return std::exchange(first, first->next);
  }
  void post(LoopNode& task, int level) noexcept { queues.post(task, level, posts_near); }

  unsigned posts_near = 0;
  NoSleepers nobody;
  ClusterQueues<sizes, NoSleepers> queues;

 private:
  LoopNode*& bound(unsigned agent, int level) noexcept {
    return bound_[agent][static_cast<std::size_t>(level)];
  }
  std::array<std::array<LoopNode*, sizes.levels>, 2> bound_{};
};
using Cluster = BasicCluster<small>;

/// A signal's priority in a cluster, and its queue of tasks.
class Signal {
 public:
  explicit Signal(int level) : level_(level) {}

  void post(Cluster& cluster, LoopNode& task) {
    auto* cell = make_node<SignalQueueEntry>(task, *pair_, queue());
    cluster.queues.post(*cell);
    cell->drop();
  }
  void set_level(Cluster& cluster, int level) {
    level_.store(level, sync::seq_cst);
    cluster.queues.move(*pair_, queue(), [this]() noexcept { return level_.load(sync::seq_cst); });
  }
  [[nodiscard]] int level() const noexcept { return level_.load(sync::seq_cst); }
  [[nodiscard]] SignalQueue& queue() noexcept { return pair_->queue(false); }
  [[nodiscard]] SignalQueues& pair() noexcept { return *pair_; }

 private:
  sync::atomic<int> level_;
  Ref<SignalQueues> pair_ = Ref<SignalQueues>::adopt(
      make_node<SignalQueues>(level_.load(sync::relaxed), level_.load(sync::relaxed)));
};

/// Reads the newest value without ordering anything, so that the search tries what came before and
/// after.
template <class T>
void touch(sync::atomic<T>& word) {
  T value = word.load(sync::relaxed);
  while (!word.compare_exchange_weak(value, value, sync::relaxed, sync::relaxed)) {
  }
}

/// A task of a high level, the only one there, posted by another thread: no pick that begins
/// afterwards may give a lower one while it stays where it was posted (CLU-1). (No thief carries
/// it: it is alone in its bin.)
template <class Where>
class Urgent {
 public:
  Urgent(Where& cluster, int level) noexcept : cluster_(cluster), level_(level) {}

  void post() {
    cluster_.post(task, level_);
    posted_.store(true, sync::release);
  }
  /// An agent, when its pick begins.
  [[nodiscard]] bool is_posted() const noexcept { return posted_.load(sync::acquire); }
  /// An agent, when it starts a task of `level`: not while this one, posted before its pick, still
  /// waits.
  void check_not_overtaken(int level, bool was_posted) {
    if (!was_posted || level >= level_) return;
    QueueProbe::each_word(cluster_.queues, level_, [](auto& word) { touch(word); });
    const Unwatched scope;
    check(!QueueProbe::holds(cluster_.queues, level_, task), "no lower task starts before it");
  }

  CountedNode task;

 private:
  Where& cluster_;
  int level_;
  sync::atomic<bool> posted_{false};
};

}  // namespace heist::model
