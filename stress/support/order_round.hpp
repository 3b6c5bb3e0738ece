// OrderRound: a cluster at work for a while, its history, and what it shows (CLU-1, CLU-2).
//
// Two threads post from outside, with at most so many tasks under way; tasks post others, and yield. The calling
// thread checks. With signals: tasks whose priority changes, from outside and from tasks, and whose signal is aborted.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <heist/agent_cluster.hpp>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "fence.hpp"
#include "heist/cluster/cluster_queues.hpp"
#include "history/history.hpp"
#include "order_group.hpp"
#include "order_teller.hpp"

namespace heist::stress {

/// What a round has.
enum class OrderMix : std::uint8_t {
  outside,    ///< plain tasks of fixed priorities, all from outside; the bound of CLU-2 holds
  mixed,      ///< and from tasks; yields, delays, signals
  disturbed,  ///< and aborts of tasks of a fixed priority, and suspensions
};

struct OrderPlan {
  unsigned agents = 1;
  OrderMix mix = OrderMix::outside;
  std::uint64_t posts = 0;  ///< from outside
  std::uint64_t under_way =
      0;  ///< the most tasks that have been posted and not ended, but for what tasks post
  std::uint64_t seed = 0;
};

template <class Clock>
class OrderRound {
 public:
  static constexpr std::uint16_t posters = 2;

  explicit OrderRound(const OrderPlan& plan)
      : plan_(plan),
        history_(posters + plan.agents, transfers(plan), posters),
        groups_(posters * groups_each) {
    for (std::uint16_t i = 0; i < posters + plan.agents; ++i) {
      tellers_.push_back(
          std::make_unique<OrderTeller<Clock>>(history_.lane(i), i, plan.seed + 7919 * i));
    }
  }

  void run() {
    start_cluster();
    std::vector<std::jthread> threads;
    for (std::uint16_t i = 0; i < posters; ++i) threads.emplace_back([this, i] { post_all(i); });
    check_until_quiet();
    threads.clear();
    stats_ = cluster_->stats();
    cluster_.reset();
    history_.finish();
    judge();
  }

  [[nodiscard]] const History<Clock>& history() const noexcept { return history_; }
  [[nodiscard]] ClusterStats stats() const noexcept { return stats_; }

  /// The most older tasks of its level that may not have started when a task from outside does: what each agent's ring
  /// holds, and what it has taken and neither started nor put there (docs/policies.md).
  static std::uint64_t rank_bound(unsigned agents) noexcept {
    constexpr ClusterSizes sizes{};
    return agents == 1 ? 0 : std::uint64_t{agents} * (sizes.ring + sizes.bin);
  }

 private:
  using Teller = OrderTeller<Clock>;
  static constexpr std::size_t groups_each = 3;

  enum class Job : std::uint8_t { leaf, parent, fan_out, coroutine };

  using GroupRef = std::shared_ptr<OrderGroup>;

  struct Task {
    TaskId id{};
    TaskTraits traits{};
    Job job = Job::leaf;
    GroupRef group{};
  };

  /// The callback of a task that may be aborted: it tells its end without a start.
  class Abortable {
   public:
    Abortable(OrderRound& round, Task task) : round_(&round), task_(std::move(task)) {}
    Abortable(Abortable&& other) noexcept
        : round_(std::exchange(other.round_, nullptr)), task_(std::move(other.task_)) {}
    Abortable& operator=(Abortable&&) = delete;
    ~Abortable() {
      if (round_ != nullptr) here->drops(task_.id, task_.traits);
    }
    void operator()() { std::exchange(round_, nullptr)->run(task_); }

   private:
    OrderRound* round_;
    Task task_;
  };

  static TransferRule transfers(const OrderPlan& plan) noexcept {
    constexpr ClusterSizes sizes{};
    if (plan.agents == 1) return {};
    return {.most = sizes.bin - 1, .of_any_level = plan.mix == OrderMix::disturbed};
  }

  // The round.

  void start_cluster() {
    AgentClusterOptions options;
    options.agents = plan_.agents;
    options.loop.tick = std::chrono::microseconds(20);
    options.on_start = [this](unsigned agent) {
      here = tellers_[posters + agent].get();
      here->picks_next();
    };
    options.on_stop = [](unsigned) {
      here->tell_yield();
      here->lane().rest();
    };
    cluster_.emplace(std::move(options));
    scheduler_.emplace(cluster_->scheduler());
    for (unsigned i = 0; i < plan_.agents; ++i) bound_.push_back(cluster_->agent(i).scheduler());
  }

  void check_until_quiet() {
    std::uint64_t last = 0;
    auto since = std::chrono::steady_clock::now();
    while (!is_quiet()) {
      if (history_.check_some()) {
        if (!history_.verdict().holds()) judge();
        continue;
      }
      std::this_thread::yield();
      const auto now = std::chrono::steady_clock::now();
      if (std::exchange(last, finished()) != last) since = now;
      if (now - since > patience) fail("a task is never run (CLU-3)");
    }
    history_.check_some();  // so that there is room for the last notes
  }
  /// Read in this order: what is finished first.
  [[nodiscard]] bool is_quiet() const {
    if (posters_done_.load(sync::edge("stress:count", sync::acquire)) != posters) return false;
    const std::uint64_t ended = finished();
    return ended == posted();
  }
  [[nodiscard]] std::uint64_t finished() const {
    std::uint64_t sum = 0;
    for (const auto& teller : tellers_) sum += teller->finished();
    return sum;
  }
  [[nodiscard]] std::uint64_t posted() const {
    std::uint64_t sum = 0;
    for (const auto& teller : tellers_) sum += teller->posted();
    return sum;
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
        printable(posted()), printable(finished()));
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
                  printable(tellers_[posters + i]->posted()),
                  printable(tellers_[posters + i]->finished()));
    }
  }

  // Posting.

  void post_all(std::uint16_t number) {
    here = tellers_[number].get();
    for (std::size_t i = 0; i < groups_each; ++i) renew_group(own_group(i));
    for (std::uint64_t left = plan_.posts / posters; left > 0; --left) {
      if (left % 16 == 0) wait_for_room(here->random.one_in(500) ? 0 : plan_.under_way);
      if (plan_.mix != OrderMix::outside) disturb();
      post_one();
    }
    wait_for_room(plan_.under_way);
    here->lane().rest();
    posters_done_.fetch_add(1, sync::edge("stress:finish", sync::acq_rel));
  }
  /// Zero: until all sleep, as often as not.
  void wait_for_room(std::uint64_t most) {
    if (here->number() == 0 && is_suspended_) resume();
    const auto is_full = [&] {
      const std::uint64_t ended = finished();
      return posted() - ended > most;
    };
    if (!is_full()) return;
    here->lane().rest();
    await([&] { return !is_full(); }, "CLU-3: tasks that were posted are never run");
  }

  void post_one() {
    Random& random = here->random;
    if (random.one_in(16)) return post_bound();
    Task task;
    PostTaskOptions options;
    task.id.level = level_of(give_priority(options));
    if (plan_.mix != OrderMix::outside) {
      if (random.one_in(6)) give_group(task, options);
      if (random.one_in(40)) give_delay(task, options);
      task.job = random_job(task);
    }
    post(std::move(task), options);
  }
  /// So that no lane stands still, and because a bound task may pass over nothing either.
  void post_bound() {
    PostTaskOptions options;
    Task task;
    task.traits.is_hidden = true;
    task.id.level = level_of(give_priority(options));
    post(std::move(task), options, bound_[here->random.below(bound_.size())]);
  }
  void post(Task task, const PostTaskOptions& options) {
    post(std::move(task), options, *scheduler_);
  }
  void post(Task task, const PostTaskOptions& options, const Scheduler& to) {
    task.id = here->next(task.id.level);
    const TaskId id = task.id;
    const TaskTraits traits = task.traits;
    const Moment begin = here->lane().before();
    if (task.group) {
      to.post(Abortable(*this, std::move(task)), options);
    } else {
      const bool is_posted =
          to.post([this, id, traits,
                   job = task.job] { run({.id = id, .traits = traits, .job = job, .group = {}}); },
                  options);
      check(is_posted, "a running cluster refused a task");
    }
    here->lane().posted(id, begin, traits);
  }

  TaskPriority give_priority(PostTaskOptions& options) {
    options.priority = priorities[here->random.below(3)];
    return *options.priority;
  }
  static std::uint8_t level_of(TaskPriority priority) noexcept {
    return static_cast<std::uint8_t>(effective_priority(priority, false));
  }
  void give_group(Task& task, PostTaskOptions& options) {
    task.group = own_group(here->random.below(groups_each));
    task.traits.group = task.group->number();
    options.signal = task.group->signal();
    const bool is_fixed = plan_.mix == OrderMix::disturbed && here->random.one_in(2);
    if (is_fixed) return;
    options.priority.reset();
    task.traits.is_dynamic = true;
    task.id.level = 0;
  }
  void give_delay(Task& task, PostTaskOptions& options) {
    task.traits.is_hidden = true;
    options.delay = std::chrono::microseconds(here->random.below(200));
  }
  Job random_job(const Task& task) {
    Random& random = here->random;
    const bool may_yield = !task.group || !task.group->is_abortable();
    if (random.one_in(2000)) return Job::fan_out;
    if (random.one_in(8)) return Job::parent;
    return may_yield && random.one_in(8) ? Job::coroutine : Job::leaf;
  }

  // Signals.

  GroupRef& own_group(std::size_t i) { return groups_[here->number() * groups_each + i]; }

  void renew_group(GroupRef& group) {
    const std::uint32_t number = 1 + posters * next_group_[here->number()]++ + here->number();
    group = OrderGroup::make(*here, number);
  }

  void disturb() {
    Random& random = here->random;
    GroupRef& group = own_group(random.below(groups_each));
    if (random.one_in(40)) group->move(*here);
    if (group->is_abortable() && random.one_in(400) && group->abort(*here)) renew_group(group);
    if (plan_.mix != OrderMix::disturbed || here->number() != 0) return;
    if (is_suspended_ ? random.one_in(50) : random.one_in(2000))
      is_suspended_ ? resume() : suspend();
  }
  void suspend() {
    const auto begin = here->lane().before();
    scheduler_->suspend();
    here->lane().suspended(begin);
    is_suspended_ = true;
  }
  void resume() {
    const auto begin = here->lane().before();
    scheduler_->resume();
    here->lane().resumed(begin);
    is_suspended_ = false;
  }

  // What tasks do.

  void run(const Task& task) {
    here->starts(task.id, task.traits);
    work();
    switch (task.job) {
      case Job::leaf:
        break;
      case Job::parent:
        for (auto left = 1 + here->random.below(3); left > 0; --left) post_child(task);
        if (task.group && task.traits.is_dynamic) task.group->move(*here);
        break;
      case Job::fan_out:
        for (int left = 300; left > 0; --left) post_child(task);
        break;
      case Job::coroutine:
        static_cast<void>(turns(task.id.level, task.traits, 1 + here->random.below(3)));
        return here->tell_yield();
    }
    here->ends();
  }
  void post_child(const Task& parent) {
    Task child;
    PostTaskOptions options;
    child.id.level = level_of(give_priority(options));
    if (parent.traits.is_dynamic && here->random.one_in(2)) {
      child.group = parent.group;
      child.traits = {.group = parent.group->number(), .is_dynamic = true};
      child.id.level = 0;
      options = {.signal = parent.group->signal()};
    }
    post(std::move(child), options);
  }
  Promise<void> turns(std::uint8_t level, TaskTraits traits, std::uint64_t left) {
    traits.is_hidden = false;
    const auto continuation = static_cast<std::uint8_t>(traits.is_dynamic ? 1 : level + 1);
    for (; left > 0; --left) {
      const TaskId id = here->yields(continuation, traits);
      co_await heist::yield();
      here->starts(id, traits);
      work();
    }
    here->ends();
  }
  /// Mostly short; some long enough for others to come and go.
  static void work() {
    Random& random = here->random;
    const volatile auto steps = random.one_in(64) ? random.below(20'000) : random.below(100);
    for (std::uint64_t i = 0; i < steps; ++i) {
    }
    if (random.one_in(1000)) std::this_thread::yield();
  }

  static inline thread_local Teller* here = nullptr;

  const OrderPlan plan_;
  History<Clock> history_;
  std::vector<std::unique_ptr<Teller>> tellers_;
  std::vector<GroupRef> groups_;
  std::array<std::uint32_t, posters> next_group_{};
  std::optional<AgentCluster> cluster_;
  std::optional<Scheduler> scheduler_;
  std::vector<Scheduler> bound_;
  bool is_suspended_ = false;  ///< poster 0's
  sync::atomic<unsigned> posters_done_{0};
  ClusterStats stats_;
};

}  // namespace heist::stress
