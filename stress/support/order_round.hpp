// OrderRound: lets a cluster work for a while, and checks its history (CLU-1, CLU-2) on the calling
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <heist/agent_cluster.hpp>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "heist/cluster/queues/cluster_queues.hpp"
#include "order_tasks.hpp"

namespace heist::stress {

using namespace detail;

template <class Clock>
class OrderRound {
 public:
  explicit OrderRound(const OrderPlan& plan)
      : plan_(plan), history_(posters + plan.agents, transfers(plan), posters) {}

  void run() {
    start_cluster();
    std::vector<std::jthread> threads;
    for (std::uint16_t i = 0; i < posters; ++i)
      threads.emplace_back([this, i] { tasks_.post_all(i); });
    check_until_quiet();
    threads.clear();
    stats_ = cluster_->stats();
    cluster_.reset();
    history_.finish();
    judge();
  }

  [[nodiscard]] const History<Clock>& history() const noexcept { return history_; }
  [[nodiscard]] ClusterStats stats() const noexcept { return stats_; }

  /// When a task from outside starts, at most so many older ones of its level may not have started
  /// yet: those that each agent's ring holds, and those that it has taken and has neither started
  /// nor put there (docs/policies.md).
  static std::uint64_t rank_bound(unsigned agents) noexcept {
    constexpr ClusterSizes sizes{};
    return agents == 1 ? 0 : std::uint64_t{agents} * (sizes.ring + sizes.bin);
  }

 private:
  static constexpr std::uint16_t posters = OrderTasks<Clock>::posters;

  static TransferRule transfers(const OrderPlan& plan) noexcept {
    constexpr ClusterSizes sizes{};
    if (plan.agents == 1) return {};
    return {.most = sizes.bin - 1, .holds_anything = plan.mix == OrderMix::disturbed};
  }

  void start_cluster() {
    AgentClusterOptions options;
    options.agents = plan_.agents;
    options.loop.tick = std::chrono::microseconds(20);
    tasks_.listen(options);
    cluster_.emplace(std::move(options));
    tasks_.post_to(*cluster_);
  }

  void check_until_quiet() {
    std::uint64_t last = 0;
    auto since = std::chrono::steady_clock::now();
    while (!tasks_.are_done()) {
      if (history_.check_some()) {
        if (!history_.verdict().holds()) judge();
        continue;
      }
      std::this_thread::yield();
      const auto now = std::chrono::steady_clock::now();
      if (std::exchange(last, tasks_.finished()) != last) since = now;
      if (now - since > patience) fail("a task is never run (CLU-3)");
    }
    history_.check_some();  // makes room for the last notes
  }

  void judge() {
    const LevelVerdict& levels = history_.verdict();
    if (levels.violating_pairs != 0) fail("CLU-1: a task of a higher level was passed over");
    if (levels.dropped_unaborted != 0) fail("a task was dropped that nobody had aborted");
    if (!history_.exactly_once().holds()) fail("a task did not run exactly once");
    const bool is_bounded = plan_.mix == OrderMix::outside;
    if (is_bounded && history_.rank_error().max_rank() > rank_bound(plan_.agents)) {
      fail("CLU-2: the rank error is above its bound");
    }
  }
  [[noreturn]] void fail(const char* what) {
    history_.print(stdout);
    std::printf(
        "%u agents, mix %d, at most %llu under way, clock in %s: posted %llu, finished %llu\n",
        plan_.agents, static_cast<int>(plan_.mix), printable(plan_.under_way), Clock::unit,
        printable(tasks_.posted()), printable(tasks_.finished()));
    if (cluster_) print_stats();
    check(false, what);
    std::abort();
  }
  void print_stats() const {
    const ClusterStats stats = cluster_->stats();
    std::printf("cluster: ran %llu, stolen %llu, wake-ups %llu, sleeps %llu\n",
                printable(stats.tasks_run), printable(stats.stolen), printable(stats.wakeups_sent),
                printable(stats.sleeps));
    for (unsigned i = 0; i < plan_.agents; ++i) {
      const EventLoopStats loop = cluster_->agent(i).stats();
      std::printf("agent %u: ran %llu, sleeps %llu; told: posted %llu, finished %llu\n", i,
                  printable(loop.tasks_run), printable(loop.sleeps),
                  printable(tasks_.teller(posters + i).posted()),
                  printable(tasks_.teller(posters + i).finished()));
    }
  }

  const OrderPlan plan_;
  History<Clock> history_;
  OrderTasks<Clock> tasks_{plan_, history_};
  std::optional<AgentCluster> cluster_;
  ClusterStats stats_;
};

}  // namespace heist::stress
